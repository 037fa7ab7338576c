;;; flemma-code.el --- From code to a conversation and back -*- lexical-binding: t -*-

;;; Commentary:

;; flemma.el loads this file.  Bind `flemma-ask' and `flemma-toggle' to global keys.

;;; Code:

(require 'seq)
(require 'subr-x)

(declare-function flemma-mode "flemma")
(defvar flemma-program)

(defun flemma--chats ()
  "The buffers that hold conversations, the last one used first."
  (seq-filter (lambda (buffer) (eq (buffer-local-value 'major-mode buffer) 'flemma-mode)) (buffer-list)))

(defun flemma--reference (file folder)
  "A reference to FILE for a document in FOLDER."
  (let ((name (file-relative-name file folder)))
    (concat "@" (unless (string-match-p "\\`\\(?:\\.\\./\\|/\\)" name) "./")
            (replace-regexp-in-string
             "[][:space:][:cntrl:]%;+{#]\\|[^[:alnum:]]\\'"
             (lambda (part) (mapconcat (lambda (byte) (format "%%%02X" byte)) (encode-coding-string part 'utf-8) ""))
             name t t))))

(defun flemma--lines-of (beg end)
  "The lines from BEG to END as the end of a reference.
A region that ends at the beginning of a line does not include that line."
  (let* ((first (line-number-at-pos beg t))
         (last (max first (- (line-number-at-pos end t)
                             (if (save-excursion (goto-char end) (bolp)) 1 0)))))
    (if (= first last) (format "#L%d" first) (format "#L%d-%d" first last))))

(defun flemma--begin-question ()
  "Put point where the person writes next, in a message of theirs at the end."
  (goto-char (point-max))
  (let ((mine (save-excursion
                (and (re-search-backward "^@\\(\\w+\\):[ \t]*$" nil t) (equal (match-string 1) "You") (line-end-position)))))
    (if (and mine (string-blank-p (buffer-substring mine (point-max))))
        (progn (delete-region mine (point-max)) (insert "\n"))
      (skip-chars-backward " \t\n")
      (delete-region (point) (point-max))
      (insert (if (bobp) "" "\n\n") (if mine "" "@You:\n")))))

;;;###autoload
(defun flemma-ask (conversation)
  "Ask about the region, or about this file, in CONVERSATION.
It is the name of a buffer, or of a file that may be new."
  (interactive
   (progn
     (unless buffer-file-name (user-error "This buffer has no file to ask about"))
     (let ((names (mapcar #'buffer-name (flemma--chats))))
       (list (completing-read (format "Conversation (default %s): " (or (car names) "notes.chat")) names nil nil nil nil
                              (or (car names) "notes.chat"))))))
  (let ((file buffer-file-name)
        (lines (if (use-region-p) (flemma--lines-of (region-beginning) (region-end)) ""))
        (buffer (or (get-buffer conversation) (find-file-noselect conversation))))
    (pop-to-buffer buffer)
    (unless (derived-mode-p 'flemma-mode) (user-error "%s is not a conversation" conversation))
    (flemma--begin-question)
    (insert (flemma--reference file default-directory) lines " ")))

(defun flemma-toggle ()
  "Go to the last conversation, or from a conversation to the last code."
  (interactive)
  (let ((wanted (if (derived-mode-p 'flemma-mode)
                    (seq-find (lambda (buffer)
                                (and (buffer-file-name buffer)
                                     (not (eq (buffer-local-value 'major-mode buffer) 'flemma-mode))))
                              (buffer-list))
                  (car (flemma--chats)))))
    (if wanted (pop-to-buffer wanted '((display-buffer-reuse-window display-buffer-same-window)))
      (user-error "There is no buffer to go to"))))

(defun flemma-copy-block ()
  "Copy the code block at point, or the nearest one above, else below."
  (interactive)
  (save-excursion
    (let ((from (line-end-position)) beg end)
      (goto-char (point-min))
      (while (and (or (not beg) (<= (point) from)) (re-search-forward "^\\(`\\{3,\\}\\)[^`\n]*$" nil t))
        (let ((ticks (match-string 1)) (opened (match-beginning 0)) (first (min (point-max) (1+ (point)))))
          (when (and (re-search-forward (concat "^" ticks "`*[ \t]*$") nil 'end)
                     (or (not beg) (<= opened from)))
            (setq beg first end (max first (1- (line-beginning-position)))))))
      (unless beg (user-error "There is no code block"))
      (kill-new (buffer-substring-no-properties beg end))
      (message "flemma: copied %d lines" (count-lines beg end)))))

(defun flemma--answer (&rest words)
  "What the program prints for WORDS."
  (with-temp-buffer
    (let ((code (apply #'call-process (car flemma-program) nil (list t nil) nil (append (cdr flemma-program) words))))
      (unless (eq code 0) (user-error "`flemma %s' failed; see `flemma status --last'" (car words)))
      (buffer-string))))

(defun flemma--models ()
  "The names of models and presets."
  (let ((models (alist-get 'models (json-parse-string (flemma--answer "models" "list" "--json")
                                                      :object-type 'alist :array-type 'list :null-object nil))))
    (append (seq-filter (lambda (mark) (string-prefix-p "$" mark))
                        (apply #'append (mapcar (lambda (model) (alist-get 'marks model)) models)))
            (mapcar (lambda (model) (alist-get 'name model)) models))))

(defun flemma-model (model)
  "Use MODEL in this conversation for this session."
  (interactive (list (completing-read "Model for this session: " (flemma--models))))
  (unless buffer-file-name (user-error "Save the conversation first"))
  (flemma--answer "session" "set" (concat "model=" model) "--" buffer-file-name)
  (message "flemma: %s for this session" model))

(provide 'flemma-code)
;;; flemma-code.el ends here

;;; flemma.el --- Conversations with a model in plain files -*- lexical-binding: t -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "27.1"))
;; Keywords: tools, convenience

;;; Commentary:

;; A file whose name ends with .chat is a conversation.  C-c C-c advances it; the reply appears in the buffer as it
;; arrives, while you keep working.  The model's tool calls wait: C-c C-a approves the call at point, C-c C-r rejects it
;; with a reason, C-c C-v shows the whole call with the change it would make, C-c C-k cancels the run.

;;; Code:

(require 'cl-lib)
(require 'json)
(require 'subr-x)

(defgroup flemma nil "Conversations with a model in plain files." :group 'tools)

(defcustom flemma-program '("flemma")
  "The program and its first arguments."
  :type '(repeat string))

(defcustom flemma-go-on nil
  "Whether to advance automatically once no call is waiting."
  :type 'boolean)

(defvar flemma-started-hook nil "Run in the buffer when a run starts.")
(defvar flemma-waiting-hook nil "Run in the buffer when a run ends because you are needed.")
(defvar flemma-failed-hook nil "Run in the buffer when a run fails.")
(defvar flemma-finished-hook nil "Run in the buffer when a run ends, for any reason.")
(defvar flemma-event-functions nil "Called with each event of the program, an alist.")

(defvar-local flemma--run nil "The run of this buffer.")
(defvar-local flemma--said nil "The messages of the last run, newest first.")
(defvar-local flemma--calls nil "The calls without a result, as last reported.")
(defvar-local flemma--queue nil "Keys pressed while a decision is being made, as lists (COMMAND WORDS CALL).")
(defvar-local flemma--used nil "Tokens and cost so far, as (TOKENS . DOLLARS).")

;; Two writers in one buffer.
;;
;; The program counts in the lines it knows (`lines'), which are those it was given and what it made of them.  The buffer
;; holds the same lines but for some places, the hunks: there the person has been at work.  A hunk says that the N known
;; lines from S on stand in the buffer as the M lines from B on.  Hunks are in order.

(cl-defstruct flemma--run
  process err command always (begun (float-time)) (doing "") out (part "") (open 2) (code 0) stopped
  lines hunks own touched conflict group held)

(cl-defstruct flemma--hunk s n b m)

(defun flemma--lines (text)
  "The lines of TEXT; a line feed at its end begins no new one."
  (let ((lines (split-string text "\n")))
    (if (equal (car (last lines)) "") (butlast lines) lines)))

(defun flemma--alike (a b)
  "How many elements the lists A and B have in common at their beginning."
  (let ((count 0))
    (while (and a b (equal (car a) (car b)))
      (setq a (cdr a) b (cdr b) count (1+ count)))
    count))

(defvar-local flemma--before nil "Where a change begins and what stood there, as (LINE . LINES).")

(defun flemma--whole-lines (beg end)
  "The text of the whole lines that hold BEG to END, as lines."
  (save-excursion
    (let* ((from (progn (goto-char beg) (line-beginning-position)))
           (to (progn (goto-char end) (line-end-position)))
           (lines (split-string (buffer-substring-no-properties from to) "\n")))
      ;; Behind the last line feed there is no line.
      (if (and (= to (point-max)) (equal (car (last lines)) "")) (butlast lines) lines))))

(defun flemma--before-change (beg end)
  "Remember what stands between BEG and END."
  (when (and flemma--run (not (flemma--run-own flemma--run)))
    (setq flemma--before (cons (line-number-at-pos beg t) (flemma--whole-lines beg end)))))

(defun flemma--after-change (beg end _length)
  "The person changed what stands between BEG and END now."
  (when (and flemma--run flemma--before (not (flemma--run-own flemma--run)))
    (let* ((old (cdr flemma--before))
           (new (flemma--whole-lines beg end))
           (head (flemma--alike old new))
           (tail (flemma--alike (reverse (nthcdr head old)) (reverse (nthcdr head new))))
           (first (+ (car flemma--before) head)))
      (setq flemma--before nil)
      (flemma--person flemma--run first (+ first (- (length old) head tail)) (- (length new) (length old))))))

(defun flemma--known (run line)
  "The known line of RUN at which LINE of the buffer stands.
Inside of a hunk it is the first one behind it."
  (let ((shift 0))
    (catch 'found
      (dolist (h (flemma--run-hunks run))
        (when (> (+ (flemma--hunk-b h) (flemma--hunk-m h)) line)
          (throw 'found (if (< (flemma--hunk-b h) line)
                            (+ (flemma--hunk-s h) (flemma--hunk-n h))
                          (+ line shift))))
        (setq shift (- (+ (flemma--hunk-s h) (flemma--hunk-n h)) (+ (flemma--hunk-b h) (flemma--hunk-m h)))))
      (+ line shift))))

(defun flemma--place (run line above)
  "The line of the buffer at which the known LINE of RUN stands.
With ABOVE what is put in there goes above what the person put in."
  (let ((shift 0))
    (catch 'found
      (dolist (h (flemma--run-hunks run))
        (cond ((or (> (flemma--hunk-s h) line) (and above (= (flemma--hunk-s h) line)))
               (throw 'found (+ line shift)))
              ((> (+ (flemma--hunk-s h) (flemma--hunk-n h)) line)
               (throw 'found (flemma--hunk-b h))))
        (setq shift (- (+ (flemma--hunk-b h) (flemma--hunk-m h)) (+ (flemma--hunk-s h) (flemma--hunk-n h)))))
      (+ line shift))))

(defun flemma--person (run first end added)
  "The person of RUN changed the lines from FIRST up to the one before END.
There are ADDED more of them now."
  (setf (flemma--run-touched run) t)
  (let ((from (flemma--known run first)) (to (flemma--known run end)) kept)
    (dolist (h (flemma--run-hunks run))
      (let ((b (flemma--hunk-b h)) (m (flemma--hunk-m h)) (s (flemma--hunk-s h)) (n (flemma--hunk-n h)))
        (if (or (< (+ b m) first) (< end b))
            (push h kept)
          (setq first (min first b) end (max end (+ b m)) from (min from s) to (max to (+ s n))))))
    (dolist (h kept)
      (when (>= (flemma--hunk-b h) end) (cl-incf (flemma--hunk-b h) added)))
    (push (make-flemma--hunk :s from :n (- to from) :b first :m (+ (- end first) added)) kept)
    (setf (flemma--run-hunks run) (sort kept (lambda (x y) (< (flemma--hunk-b x) (flemma--hunk-b y)))))))

(defun flemma--edit (run line removed new)
  "The program of RUN replaced REMOVED of its lines from LINE on by NEW.
Where the person was at work in the same lines the buffer stays theirs."
  (let ((to (+ line removed)) (grown (- (length new) removed)) (place (flemma--place run line (= removed 0)))
        hit hunks)
    (dolist (h (flemma--run-hunks run))
      (let* ((s (flemma--hunk-s h)) (n (flemma--hunk-n h)) (end (+ s n)))
        (cond ((and (<= end line) (not (and (= n 0) (= s line) (= removed 0)))) (push h hunks))
              ((>= s to)
               (cl-incf (flemma--hunk-s h) grown)
               (unless hit (cl-incf (flemma--hunk-b h) grown))
               (push h hunks))
              ((not hit)
               (let ((before (max 0 (- s line))) (behind (max 0 (- to end))))
                 (cl-decf (flemma--hunk-s h) before)
                 (cl-decf (flemma--hunk-b h) before)
                 (cl-incf (flemma--hunk-n h) (+ before behind))
                 (cl-incf (flemma--hunk-m h) (+ before behind))
                 (push (setq hit h) hunks)))
              (t
               (let ((last (max (+ (flemma--hunk-s hit) (flemma--hunk-n hit)) end)))
                 (setf (flemma--hunk-m hit) (+ (- (+ (flemma--hunk-b h) (flemma--hunk-m h)) (flemma--hunk-b hit))
                                               (- last end))
                       (flemma--hunk-n hit) (- last (flemma--hunk-s hit))))))))
    (when hit
      (cl-incf (flemma--hunk-n hit) grown)
      (setf (flemma--run-conflict run) t))
    (setf (flemma--run-hunks run) (nreverse hunks))
    (let ((lines (flemma--run-lines run)))
      (setf (flemma--run-lines run)
            (append (cl-subseq lines 0 (1- line)) new (nthcdr (+ line removed -1) lines))))
    (unless hit (flemma--write run place removed new))))

(defun flemma--finish (run lines)
  "The whole text of the program of RUN is LINES: what is not yet so is changed."
  (let* ((old (flemma--run-lines run))
         (head (flemma--alike old lines))
         (tail (flemma--alike (reverse (nthcdr head old)) (reverse (nthcdr head lines)))))
    (unless (and (= head (length old)) (= head (length lines)))
      (flemma--edit run (1+ head) (- (length old) head tail)
                    (cl-subseq lines head (- (length lines) tail))))))

(defun flemma--drop-prompt (run)
  "Take the empty question at the end of RUN away where it is not needed.
It is not where the person typed the next one below it already."
  (let* ((h (car (last (flemma--run-hunks run))))
         (lines (flemma--run-lines run))
         (at (cl-position-if (lambda (line) (string-match-p "[^ \t]" line)) lines :from-end t))
         (mine (and h (= (flemma--hunk-n h) 0) (> (flemma--hunk-s h) (length lines))
                    (flemma--buffer-lines (flemma--hunk-b h) (flemma--hunk-m h))))
         (first (cl-position-if (lambda (line) (string-match-p "[^ \t]" line)) mine)))
    (when (and at first (equal (nth at lines) "@You:") (string-prefix-p "@You:" (nth first mine)))
      (let ((ours (- (length lines) at)))
        (flemma--write run (- (flemma--hunk-b h) ours) (+ ours first) nil)))))

(defun flemma--buffer-lines (from count)
  "COUNT lines of the buffer from the line FROM on."
  (save-excursion
    (save-restriction
      (widen)
      (goto-char (point-min))
      (forward-line (1- from))
      (let ((beg (point)))
        (forward-line count)
        (flemma--lines (buffer-substring-no-properties beg (point)))))))

(defun flemma--write (run line removed new)
  "Replace REMOVED lines of the buffer of RUN from LINE on by NEW.
Who reads at the end stays at the end; everybody else stays where they are."
  (setf (flemma--run-own run) t)
  (unwind-protect
      (let ((followers (cl-remove-if-not (lambda (window) (= (window-point window) (point-max)))
                                         (get-buffer-window-list nil nil t)))
            (inhibit-read-only t))
        (save-restriction
          (widen)
          (save-excursion
            (goto-char (point-min))
            (when (and (> (forward-line (1- line)) 0) (not (bolp))) (insert "\n"))
            (unless (bolp) (insert "\n"))
            (if (and (> removed 0) new (string-prefix-p (flemma--line-at-point) (car new)))
                ;; The line goes on: what stands there stays, and with it whoever reads it.
                (let ((there (length (flemma--line-at-point))))
                  (goto-char (line-end-position))
                  (insert (substring (car new) there))
                  (if (eobp) (insert "\n") (forward-line 1))
                  (setq removed (1- removed) new (cdr new))))
            (let ((beg (point)))
              (forward-line removed)
              (delete-region beg (point)))
            (dolist (text new) (insert text "\n"))))
        (dolist (window followers) (set-window-point window (point-max))))
    (setf (flemma--run-own run) nil)))

(defun flemma--line-at-point ()
  "The text of the line that begins at point."
  (buffer-substring-no-properties (point) (line-end-position)))

;; Runs.

(defconst flemma--use "^\\*\\*Tool Use:\\*\\* `[^`]*` (`\\([^`]*\\)`)" "The header of a call.")

(defun flemma--call-text (id)
  "The text of the call ID, from its header through its block.
It is nil if there is no such call, or more than one."
  (save-excursion
    (save-restriction
      (widen)
      (goto-char (point-min))
      (let (texts)
        (while (re-search-forward flemma--use nil t)
          (when (equal (match-string-no-properties 1) id)
            (let ((beg (line-beginning-position)))
              (when (re-search-forward "^\\(`\\{3,\\}\\).*$" nil t)
                (re-search-forward (concat "^" (match-string 1) "`*[ \t]*$") nil 'end))
              (push (buffer-substring-no-properties beg (point)) texts))))
        (and (= (length texts) 1) (car texts))))))

(defun flemma--call-here ()
  "The call at point as (ID . TEXT); nil if flemma has to find it by its line."
  (save-excursion
    (end-of-line)
    (when (re-search-backward (concat flemma--use "\\|^\\*\\*Tool Result:\\*\\* `\\([^`]*\\)`") nil t)
      (let* ((id (or (match-string-no-properties 1) (match-string-no-properties 2))) (text (flemma--call-text id)))
        (and text (cons id text))))))

(defun flemma--on-call-p ()
  "Nil if there is certainly no call or result at point."
  (save-excursion
    (let ((at (line-beginning-position)))
      (end-of-line)
      (and (re-search-backward "^\\*\\*Tool \\(?:Use\\|Result\\):\\*\\*\\|^@\\(?:You\\|Assistant\\|System\\):" nil t)
           (eq (char-after) ?*)
           (or (not (re-search-forward "^\\(`\\{3,\\}\\).*$" nil t))
               (not (re-search-forward (concat "^" (match-string 1) "`*[ \t]*$") nil t))
               (<= at (line-beginning-position)))))))

(defun flemma--deciding-p ()
  "Whether a decision is being made, which takes a moment."
  (and flemma--run (member (flemma--run-command flemma--run) '("approve" "reject"))))

(defun flemma--press (command words call)
  "Run COMMAND with WORDS about CALL, after the decisions that are being made.
CALL is what `flemma--call-here' answered when the key was pressed."
  (cond ((not (flemma--deciding-p))
         (if (and call (not (equal (flemma--call-text (car call)) (cdr call))))
             (user-error "The call %s has changed since the key was pressed; nothing was done" (car call))
           (apply #'flemma--start command
                  (append words (if call (list "--" (car call)) (and (not (equal command "advance")) (flemma--at-point)))))))
        ((or call (equal command "advance"))
         (setq flemma--queue (append flemma--queue (list (list command words call))))
         (message "flemma: %s follows" command))
        (t (user-error "Wait until the decision before is made"))))

(defun flemma--press-next (code)
  "Carry out the next key that waits for the decision which ended with CODE."
  (when flemma--queue
    (let ((next (pop flemma--queue)))
      (if (= code 0)
          (condition-case fault
              (apply #'flemma--press next)
            (error
             (message "flemma: %s" (error-message-string fault))
             (flemma--press-next (if (equal (car (car flemma--queue)) "advance") 1 0))))
        (setq flemma--queue nil)
        (message "flemma: the decision failed, so the keys pressed after it do nothing")))))

(defun flemma--call-process (words text on-err on-done)
  "Start the program with WORDS and TEXT as its standard input.
ON-ERR gets each line of standard error, ON-DONE standard output and the
exit code.  Answers the process."
  (unless (executable-find (car flemma-program))
    (user-error "%s was not found on the path: set flemma-program" (car flemma-program)))
  (let* ((out nil) (part "") (open 2) (code 0)
         (coding-system-for-read 'utf-8-unix) (coding-system-for-write 'utf-8-unix)
         (over (lambda ()
                 (when (= (cl-decf open) 0)
                   (unless (string-empty-p part) (funcall on-err part))
                   (funcall on-done (apply #'concat (nreverse out)) code))))
         (err (make-pipe-process
               :name "flemma-messages" :noquery t :buffer nil
               :filter (lambda (_process text)
                         (let ((lines (split-string (concat part text) "\n")))
                           (setq part (car (last lines)))
                           (mapc on-err (butlast lines))))
               :sentinel (lambda (_process _event) (funcall over))))
         (process (make-process
                   :name "flemma" :noquery t :connection-type 'pipe :stderr err :buffer nil
                   :command (append flemma-program words)
                   :filter (lambda (_process text) (push text out))
                   :sentinel (lambda (process _event)
                               (unless (process-live-p process)
                                 (setq code (process-exit-status process))
                                 (funcall over))))))
    (process-send-string process text)
    (process-send-eof process)
    process))

(defun flemma--named ()
  "The words that name the file of this buffer."
  (and buffer-file-name (list "--name" buffer-file-name)))

(defun flemma--text ()
  "The text of this buffer, its last line ended."
  (save-restriction
    (widen)
    (let ((text (buffer-substring-no-properties (point-min) (point-max))))
      (if (string-suffix-p "\n" text) text (concat text "\n")))))

(defun flemma--start (command &rest words)
  "Run COMMAND with WORDS over this buffer."
  (when flemma--run (user-error "A run is already in progress; C-c C-k cancels it"))
  (barf-if-buffer-read-only)
  (let* ((buffer (current-buffer))
         (text (flemma--text))
         (telling (member command '("advance" "send" "execute")))
         (run (make-flemma--run :command command :always (member "--always" words) :lines (flemma--lines text)
                                :group (prepare-change-group))))
    (activate-change-group (flemma--run-group run))
    (setq flemma--said nil)
    (setf (flemma--run-process run)
          (flemma--call-process
           ;; The words go last: behind a -- among them nothing is an option any more.
           (append (list command "-") (flemma--named)
                   (if telling '("--events" "stderr" "--edits") '("--messages" "stderr")) words)
           text
           (lambda (line) (when (buffer-live-p buffer) (with-current-buffer buffer (flemma--told run line))))
           (lambda (out code) (flemma--done buffer run out code))))
    (setq flemma--run run)
    (add-hook 'before-change-functions #'flemma--before-change nil t)
    (add-hook 'after-change-functions #'flemma--after-change nil t)
    (flemma--clear-previews)
    (run-hooks 'flemma-started-hook)
    (force-mode-line-update)))

(defun flemma--told (run line)
  "The program of RUN says LINE: an event, or words for the person."
  (if (not (string-prefix-p "{" line))
      (unless (string-blank-p line) (push line flemma--said))
    (let* ((event (json-parse-string line :object-type 'alist :array-type 'list :null-object nil))
           (kind (alist-get 'event event)))
      (pcase kind
        ("edit" (flemma--edit run (alist-get 'line event) (alist-get 'removed event) (alist-get 'lines event)))
        ("request:sending" (setf (flemma--run-doing run) (concat "waiting for " (alist-get 'model event))))
        ("text" (setf (flemma--run-doing run) "answering"))
        ("reply:progress" (setf (flemma--run-doing run)
                                (if (equal (alist-get 'block event) "thinking") "thinking" "writing a call")))
        ("tool:executing" (setf (flemma--run-doing run) (alist-get 'preview event)))
        ("tool:finished" (flemma--reload) (flemma--fold))
        ("request:finished" (flemma--use (alist-get 'record event)))
        ("notice" (when (member (alist-get 'code event) '("approval-not-here" "was-running"))
                    (setf (flemma--run-held run) (alist-get 'message event))))
        ("message" (push (alist-get 'text event) flemma--said))
        ("stopped" (setf (flemma--run-stopped run) event)))
      (unless (equal kind "edit") (run-hook-with-args 'flemma-event-functions event))
      (force-mode-line-update))))

(defun flemma--use (record)
  "Count what a request used, as RECORD tells."
  (when record
    (let ((usage (alist-get 'usage record)))
      (setq flemma--used
            (cons (+ (or (car flemma--used) 0) (or (alist-get 'input usage) 0) (or (alist-get 'output usage) 0))
                  (+ (or (cdr flemma--used) 0) (or (alist-get 'cost record) 0)))))))

(defun flemma--done (buffer run out code)
  "RUN of BUFFER ended with the text OUT and exit CODE."
  (if (not (buffer-live-p buffer))
      (flemma--aside "closed" (if (string-empty-p out) (mapconcat #'identity (flemma--run-lines run) "\n") out))
    (with-current-buffer buffer
      (unless (string-empty-p out) (flemma--finish run (flemma--lines out)))
      (flemma--drop-prompt run)
      (setq flemma--run nil)
      (remove-hook 'before-change-functions #'flemma--before-change t)
      (remove-hook 'after-change-functions #'flemma--after-change t)
      (unless (flemma--run-touched run) (undo-amalgamate-change-group (flemma--run-group run)))
      (accept-change-group (flemma--run-group run))
      (flemma--fold)
      (flemma-refresh)
      (when (flemma--run-conflict run) (flemma--aside (buffer-name) out))
      (flemma--sum-up run code)
      (unless flemma--run (flemma--press-next code))
      (force-mode-line-update))))

(defun flemma--aside (name text)
  "Show TEXT, which the buffer NAME could not take whole, in a buffer of its own."
  (with-current-buffer (generate-new-buffer (format "*flemma %s*" name))
    (insert text)
    (flemma-mode)
    (goto-char (point-min))
    (display-buffer (current-buffer))))

(defconst flemma--sentences
  '(("done" . "the reply is complete")
    ("cut" . "the reply is incomplete; C-u C-c C-c continues it")
    ("cancelled" . "stopped; write below a line @You:, or C-u C-c C-c continues the reply")
    ("batched" . "the request is in a batch; flemma batch fetch writes the reply")
    ("last-word" . "the last message is the model's; write below a line @You:, or C-u C-c C-c continues it"))
  "The messages for the ways in which a run ends.")

(defun flemma--sum-up (run code)
  "Report how RUN ended with exit CODE."
  (let* ((stopped (flemma--run-stopped run))
         (exit (or (alist-get 'exit stopped) code))
         (reason (alist-get 'reason stopped))
         (said (cl-find-if-not (lambda (line) (string-match-p "\\`[ \t]\\|flemma recover" line)) flemma--said)))
    (cond ((= exit 3) (run-hooks 'flemma-waiting-hook))
          ((/= exit 0) (run-hooks 'flemma-failed-hook)))
    (run-hooks 'flemma-finished-hook)
    (cond ((flemma--run-conflict run)
           (message "flemma: you and the reply changed the same lines; your text stays, the other is shown next to it"))
          ((equal reason "pending")
           (let ((count (length (alist-get 'ids stopped))))
             (if (flemma--run-held run) (message "flemma: %s" (flemma--run-held run))
               (message "flemma: %s for you: C-c C-a approves, C-c C-r rejects, C-c C-v shows it"
                        (if (= count 1) "1 call waits" (format "%d calls wait" count))))))
          ((assoc reason flemma--sentences)
           (message "flemma: %s" (cdr (assoc reason flemma--sentences))))
          ((and (= exit 0) (not (flemma--run-always run)) (member (flemma--run-command run) '("approve" "reject")))
           (if (and flemma-go-on (not flemma--queue) (not (flemma--waiting-p)))
               (flemma--start "advance")
             (message "flemma: %s; C-c C-c continues"
                      (if (equal (flemma--run-command run) "approve") "approved" "rejected"))))
          (t (message "%s" (or said (format "flemma: exit code %d" exit)))))))

(defun flemma--reload ()
  "Reload files that a tool may have written.
Buffers with unsaved changes stay as they are."
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (when (and buffer-file-name (not flemma--run) (not (verify-visited-file-modtime buffer))
                 (file-exists-p buffer-file-name))
        (if (buffer-modified-p)
            (message "flemma: a tool changed %s, in which you have unsaved changes" (buffer-name))
          (revert-buffer t t t))))))

;; What is shown beside the text.

(defun flemma--clear-previews ()
  "Remove the previews."
  (remove-overlays (point-min) (point-max) 'flemma-preview t))

(defun flemma-refresh ()
  "Show a preview at each open call."
  (interactive)
  (let ((buffer (current-buffer)) (tick (buffer-chars-modified-tick)))
    (when (executable-find (car flemma-program))
      (flemma--call-process
       (append '("status" "-" "--json") (flemma--named)) (flemma--text) #'ignore
       (lambda (out code)
         (when (and (= code 0) (buffer-live-p buffer))
           (with-current-buffer buffer
             (when (and (not flemma--run) (= tick (buffer-chars-modified-tick)))
               (let ((report (json-parse-string out :object-type 'alist :array-type 'list :null-object nil)))
                 (setq flemma--calls (alist-get 'calls report))
                 (flemma--clear-previews)
                 (mapc #'flemma--preview flemma--calls)
                 (force-mode-line-update))))))))))

(defun flemma--preview (call)
  "Show a preview of CALL after the line of its block."
  (save-excursion
    (goto-char (point-min))
    (forward-line (1- (alist-get 'line call)))
    (let* ((overlay (make-overlay (line-end-position) (line-end-position)))
           (waits (equal (alist-get 'status call) "pending"))
           (helper (and waits (save-excursion
                                (re-search-forward "(helper=\\([a-z0-9-]+\\))" (line-end-position) t))
                        (match-string-no-properties 1))))
      (overlay-put overlay 'flemma-preview t)
      (overlay-put overlay 'after-string
                   (propertize (cond (helper (format "  <- waits in %s.d/%s.chat" (file-name-nondirectory (or buffer-file-name "")) helper))
                                     (waits (concat "  <- waits for you: " (alist-get 'preview call)))
                                     (t (concat "  <- " (alist-get 'preview call))))
                               'face (if waits 'warning 'shadow))))))

(defun flemma--mode-line ()
  "What runs and for how long, what waits, what was used.
The mode line reads each % as a construct of its own, those of a call too."
  (replace-regexp-in-string "%" "%%" (flemma--doings) t t))

(defun flemma--doings ()
  "What `flemma--mode-line' shows, as text."
  (let ((waiting (cl-count-if (lambda (call) (equal (alist-get 'status call) "pending")) flemma--calls)))
    (concat
     (cond (flemma--run (format " [%s %d s]" (if (string-empty-p (flemma--run-doing flemma--run))
                                                  (flemma--run-command flemma--run)
                                                (flemma--run-doing flemma--run))
                                (- (float-time) (flemma--run-begun flemma--run))))
           ((= waiting 1) " [1 call waits]")
           ((> waiting 1) (format " [%d calls wait]" waiting)))
     (and flemma--used (format " [%d tokens, $%.4f]" (car flemma--used) (cdr flemma--used))))))

(defun flemma--fold ()
  "Fold new results, thinking and tools of the provider."
  (save-excursion
    (goto-char (point-min))
    (while (re-search-forward "^\\*\\*Tool Result:\\*\\*.*\n\\(?:[ \t]*\n\\)*\\(`\\{3,\\}\\)\\(.*\\)$\\|^<thinking\\>[^/\n]*>[ \t]*$\\|^<server_tool [^\n]*>[ \t]*$" nil t)
      (let* ((fence (match-string-no-properties 1))
             (waits (and fence (string-prefix-p "flemma:" (match-string-no-properties 2))))
             (beg (line-end-position)))
        (forward-line 1)
        (when (re-search-forward (if fence (concat "^" fence "`*[ \t]*$") "^</\\(?:thinking\\|server_tool\\)>") nil t)
          (let ((end (line-beginning-position)))
            (unless (or waits (<= end (1+ beg))
                        (cl-some (lambda (overlay) (overlay-get overlay 'flemma-fold)) (overlays-at (1+ beg))))
              (let ((overlay (make-overlay beg (1- end))))
                (overlay-put overlay 'flemma-fold t)
                (overlay-put overlay 'evaporate t)
                (overlay-put overlay 'isearch-open-invisible (lambda (o) (overlay-put o 'invisible nil)))
                (overlay-put overlay 'invisible 'flemma)))))))))

(defun flemma-toggle-fold ()
  "Open or close the result or thinking at point."
  (interactive)
  (let ((overlay (cl-find-if (lambda (o) (overlay-get o 'flemma-fold))
                             (overlays-in (line-beginning-position) (min (point-max) (1+ (line-end-position)))))))
    (if (not overlay)
        (user-error "There is nothing to fold here")
      (overlay-put overlay 'invisible (if (overlay-get overlay 'invisible) nil 'flemma)))))

;; Commands.

(defun flemma-advance (&optional continue)
  "Advance the conversation until you are needed.
With CONTINUE, the model continues its last message."
  (interactive "P")
  (flemma--press "advance" (and continue '("--continue")) nil))

(defun flemma-cancel ()
  "Cancel the run.  Twice within two seconds: immediately."
  (interactive)
  (unless flemma--run (user-error "No run is in progress"))
  (setf (flemma--run-doing flemma--run) "stopping")
  (interrupt-process (flemma--run-process flemma--run)))

(defun flemma--at-point ()
  "The arguments that name the call at point."
  (list "--line" (number-to-string (line-number-at-pos nil t))))

(defun flemma-approve ()
  "Approve the call at point.  Nothing runs yet."
  (interactive)
  (flemma--press "approve" nil (flemma--call-here)))

(defun flemma-always ()
  "Approve the call at point, and calls like it for this document and session."
  (interactive)
  (flemma--press "approve" '("--always") (flemma--call-here)))

(defun flemma-reject (reason call)
  "Reject CALL, which is the one at point; the model sees REASON."
  (interactive (let ((call (flemma--call-here)))
                 (unless (flemma--on-call-p) (user-error "No call is on this line; C-c C-w goes to the next"))
                 (list (read-string "Reason to reject (RET: none, C-g: cancel): ") call)))
  (flemma--press "reject" (list "-m" reason) call))

(defun flemma-execute ()
  "Run or resolve the call at point now."
  (interactive)
  (apply #'flemma--start "execute" (flemma--at-point)))

(defvar-local flemma--shown nil "The buffer, the id and the text of the call that this buffer shows.")

(defvar flemma-call-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map "a" #'flemma-approve-shown)
    (define-key map "r" #'flemma-reject-shown)
    (define-key map "q" #'quit-window)
    map))

(define-derived-mode flemma-call-mode diff-mode "Flemma call" "Show one whole call."
  (setq buffer-read-only t)
  ;; What is approved was shown in full.
  (setq-local truncate-lines nil truncate-partial-width-windows nil)
  (use-local-map flemma-call-mode-map)
  (setq-local minor-mode-overriding-map-alist nil))

(defun flemma-show ()
  "Show the whole call at point and the change it would make to a file.
Keys typed before it is shown are dropped: they were meant for another window."
  (interactive)
  (let ((buffer (current-buffer)) said shown)
    (flemma--call-process
     (append '("approval" "show" "-" "--json") (flemma--at-point) (flemma--named)) (flemma--text)
     (lambda (line) (push line said))
     (lambda (out code) (setq shown (list out code))))
    (while (not shown) (accept-process-output nil 0.1))
    (if (/= (cadr shown) 0) (message "%s" (or (car (last said)) "There is no call to show"))
      (let ((call (car (json-parse-string (car shown) :object-type 'alist :array-type 'list :null-object nil))))
        (with-current-buffer (get-buffer-create "*flemma call*")
          (let ((inhibit-read-only t))
            (erase-buffer)
            (insert (mapconcat #'identity (alist-get 'text call) "\n") "\n"))
          (flemma-call-mode)
          (let ((id (alist-get 'id call)))
            (setq flemma--shown (list buffer id (with-current-buffer buffer (flemma--call-text id)))))
          (goto-char (point-min))
          (pop-to-buffer (current-buffer))
          (fit-window-to-buffer nil (/ (frame-height) 2))
          (let ((typed (input-pending-p)))
            (discard-input)
            (message (if typed "flemma: keys typed before this was shown were not taken"
                       "flemma: a approves, r rejects with a reason, q closes"))))))))

(defun flemma--decide-shown (command &rest words)
  "Run COMMAND with WORDS for the shown call, named by its id.
The model chose the id, so it may look like an option."
  (pcase-let ((`(,buffer ,id ,text) flemma--shown))
    (quit-window)
    (with-current-buffer buffer
      (unless (equal text (flemma--call-text id)) (user-error "The call %s has changed since it was shown" id))
      (if text (flemma--press command words (cons id text))
        (apply #'flemma--start command (append words (list "--" id)))))))

(defun flemma-approve-shown ()
  "Approve the shown call, if its end is visible; else scroll."
  (interactive)
  (if (pos-visible-in-window-p (1- (point-max)))
      (flemma--decide-shown "approve")
    (scroll-up-command)
    (message "flemma: not approved yet, because the call goes on; a shows more, and approves at its end")))

(defun flemma-reject-shown (reason)
  "Reject the shown call; the model sees REASON."
  (interactive (list (read-string "Reason to reject (RET: none, C-g: cancel): ")))
  (flemma--decide-shown "reject" "-m" reason))

(defun flemma-messages ()
  "Show all messages of the last run."
  (interactive)
  (let ((said (reverse flemma--said)))
    (with-current-buffer (get-buffer-create "*flemma messages*")
      (erase-buffer)
      (insert (if said (mapconcat #'identity said "\n") "No messages.") "\n")
      (display-buffer (current-buffer)))))

(defconst flemma--role "^@\\(You\\|Assistant\\|System\\):")
(defconst flemma--waiting "^```+flemma:tool[ \t]+status=pending\\|^\\*\\*Tool Result:\\*\\*.*(pending)")

(defun flemma--waiting-p ()
  "Whether a call is waiting."
  (save-excursion (goto-char (point-min)) (re-search-forward flemma--waiting nil t)))

(defun flemma-next-message ()
  "Go to the next message."
  (interactive)
  (end-of-line)
  (if (re-search-forward flemma--role nil t) (beginning-of-line) (goto-char (point-max))))

(defun flemma-previous-message ()
  "Go to the previous message."
  (interactive)
  (beginning-of-line)
  (re-search-backward flemma--role nil t))

(defun flemma-next-waiting ()
  "Go to the next waiting call, wrapping around the end."
  (interactive)
  (let ((from (point)))
    (end-of-line)
    (if (or (re-search-forward flemma--waiting nil t)
            (progn (goto-char (point-min)) (re-search-forward flemma--waiting nil t)))
        (beginning-of-line)
      (goto-char from)
      (user-error "No call is waiting"))))

(defun flemma-partner ()
  "Go from a call to its result, or back."
  (interactive)
  (let ((from (point)))
    (end-of-line)
    (if (not (re-search-backward "^\\*\\*Tool \\(?:Use:\\*\\* `[^`]*` (\\(`[^`]*`\\))\\|Result:\\*\\* \\(`[^`]*`\\)\\)" nil t))
        (progn (goto-char from) (user-error "No call here"))
      (let ((use (match-string 1)) (result (match-string 2)))
        (unless (if use
                    (re-search-forward (concat "^\\*\\*Tool Result:\\*\\* " (regexp-quote use)) nil t)
                  (re-search-backward (concat "^\\*\\*Tool Use:\\*\\* `[^`]*` (" (regexp-quote result) ")") nil t))
          (goto-char from)
          (user-error "No call or result belongs to it"))
        (beginning-of-line)))))

(defvar flemma-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") #'flemma-advance)
    (define-key map (kbd "C-c C-k") #'flemma-cancel)
    (define-key map (kbd "C-c C-a") #'flemma-approve)
    (define-key map (kbd "C-c C-y") #'flemma-always)
    (define-key map (kbd "C-c C-r") #'flemma-reject)
    (define-key map (kbd "C-c C-e") #'flemma-execute)
    (define-key map (kbd "C-c C-v") #'flemma-show)
    (define-key map (kbd "C-c C-w") #'flemma-next-waiting)
    (define-key map (kbd "C-c C-n") #'flemma-next-message)
    (define-key map (kbd "C-c C-p") #'flemma-previous-message)
    (define-key map (kbd "C-c C-o") #'flemma-partner)
    (define-key map (kbd "C-c C-l") #'flemma-messages)
    (define-key map (kbd "C-c C-s") #'flemma-model)
    (define-key map (kbd "C-c C-b") #'flemma-copy-block)
    (define-key map (kbd "C-c C-t") #'flemma-toggle)
    (define-key map (kbd "C-c TAB") #'flemma-toggle-fold)
    map))

(defvar flemma--font-lock
  `((,(concat flemma--role ".*$") . font-lock-keyword-face)
    ("^\\*\\*\\(?:Tool \\(?:Use\\|Result\\)\\|Reply\\):\\*\\*.*$" . font-lock-function-name-face)
    ("status=\\(pending\\)\\|(pending)" (0 'warning t))
    ("status=\\(approved\\)\\|(approved)" (0 'success t))
    ("status=\\(?:rejected\\|denied\\|aborted\\)\\|(\\(?:rejected\\|denied\\|aborted\\|error\\))" (0 'error t))
    ("{{.*?}}\\|{%.*?%}" . font-lock-preprocessor-face)
    ("^<!-- flemma:aborted: .* -->$" (0 'error t)))
  "Colors.")

;;;###autoload
(define-derived-mode flemma-mode text-mode "Flemma"
  "A conversation with a model."
  (setq-local font-lock-defaults '(flemma--font-lock t))
  (setq-local outline-regexp "@\\(You\\|Assistant\\|System\\):")
  (setq-local mode-line-process '(:eval (flemma--mode-line)))
  (setq-local require-final-newline t)
  (setq-local truncate-lines nil truncate-partial-width-windows nil)
  (add-to-invisibility-spec '(flemma . t))
  (flemma--fold)
  (when buffer-file-name
    (add-hook 'after-save-hook #'flemma-refresh nil t)
    (flemma-refresh)))

;; Questions about code.
(load (expand-file-name "flemma-code" (file-name-directory (or load-file-name buffer-file-name))) nil t)

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.chat\\'" . flemma-mode))
;; Others write in a conversation: what looks like local variables in a reply chooses no mode and sets nothing.
;;;###autoload
(add-to-list 'inhibit-local-variables-regexps "\\.chat\\'")

(provide 'flemma)
;;; flemma.el ends here

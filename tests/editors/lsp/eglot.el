;; A person with eglot: opens the document, waits for the finding, takes a code action, advances, saves. -*- lexical-binding: t -*-
(require 'eglot)
(define-derived-mode flemma-chat-mode text-mode "Chat")
(add-to-list 'eglot-server-programs (cons 'flemma-chat-mode (split-string (getenv "SERVER") "\n")))
(setq eglot-connect-timeout 60 eglot-sync-connect 60 eglot-autoshutdown nil eglot-confirm-server-initiated-edits nil make-backup-files nil)

(defun wait-until (what condition)
  (let ((end (+ (float-time) 30)))
    (while (not (funcall condition))
      (when (> (float-time) end) (error "not so: %s" what))
      (accept-process-output nil 0.05)
      ;; Nobody is idle in batch mode, which is when changes are told of by themselves.
      (when (and (fboundp 'eglot-managed-p) (eglot-managed-p)) (eglot--signal-textDocument/didChange)))))

(defun holds (text) (save-excursion (goto-char (point-min)) (search-forward text nil t)))

(with-current-buffer (find-file-noselect (getenv "CHAT"))
  (set-window-buffer (selected-window) (current-buffer))
  (flemma-chat-mode)
  (apply #'eglot (eglot--guess-contact))
  (wait-until "the server is there" #'eglot-managed-p)
  (wait-until "the call is told to wait"
              (lambda ()
                (flymake-start)
                (seq-some (lambda (each) (string-match-p "waits for you: bash: \\$ echo" (flymake-diagnostic-text each)))
                          (flymake-diagnostics))))
  (goto-char (holds "flemma:tool"))
  (let* ((actions (eglot-code-actions (point) (point)))
         (wanted (seq-find (lambda (each) (string-prefix-p (getenv "TAKE") (plist-get each :title))) actions)))
    ;; Newer versions also take where the edit comes from.
    (apply #'eglot--apply-workspace-edit (plist-get wanted :edit)
           (if (= (car (func-arity #'eglot--apply-workspace-edit)) 2) '(test) '())))
  (wait-until "the word is there" (lambda () (holds "status=approved")))
  (let* ((advance nil)
         (command nil))
    ;; What is asked before the change was told of gets no answer.
    (wait-until "the conversation can be advanced"
                (lambda ()
                  (setq advance (seq-find (lambda (each) (equal (plist-get each :title) "Advance the conversation"))
                                          (eglot-code-actions (point) (point))))))
    (setq command (plist-get advance :command))
    (eglot-execute-command (eglot-current-server) (intern (plist-get command :command)) (plist-get command :arguments)))
  (wait-until "the reply is there" (lambda () (holds "All done.")))
  (save-buffer))
(kill-emacs 0)

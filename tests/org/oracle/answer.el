;;; answer.el --- what Org itself says  -*- lexical-binding: t -*-

;; emacs --batch -Q -L ORG -l answer.el REQUESTS.json ANSWERS.json
;;
;; REQUESTS is a list of {"read": FILE} and of {"write": FILE, "line": N, "verb": …, "value": …, "note": …,
;; "settings": {NAME: LISP}}.  ANSWERS is a list in the same order: what was read; the text that was left; or
;; {"error": …}.  Files are copied before they are written to.  Nothing in them is run.

(require 'json)
(require 'org)
(require 'org-id)

(setq enable-local-variables nil
      enable-dir-local-variables nil
      org-resource-download-policy nil
      make-backup-files nil
      auto-save-default nil
      create-lockfiles nil
      vc-handled-backends nil
      org-id-track-globally nil
      inhibit-message t
      system-time-locale "C")
(setq-default indent-tabs-mode nil)
(prefer-coding-system 'utf-8)

(defun answer-text (value)
  "VALUE as a JSON string or null."
  (if value (substring-no-properties value) :null))

(defun answer-list (values)
  "VALUES as a JSON list of strings."
  (vconcat (mapcar #'answer-text values)))

(defun answer-truth (value)
  "VALUE as a JSON boolean."
  (if value t :false))

(defun answer-properties ()
  "The properties of the entry at point."
  (let ((found (make-hash-table :test #'equal)))
    (dolist (pair (org-entry-properties (point) 'standard) found)
      (unless (equal (car pair) "CATEGORY")
        (puthash (car pair) (answer-text (cdr pair)) found)))))

(defun answer-path ()
  "The titles from the top down to the headline at point."
  (let ((titles (list (or (org-get-heading t t t t) ""))))
    (save-excursion
      (while (org-up-heading-safe)
        (push (or (org-get-heading t t t t) "") titles)))
    (answer-list titles)))

(defun answer-headline ()
  "The headline at point."
  (let ((priority (org-element-property :priority (org-element-at-point))))
    `((line . ,(line-number-at-pos))
      (level . ,(org-outline-level))
      (path . ,(answer-path))
      (todo . ,(answer-text (org-get-todo-state)))
      (done . ,(answer-truth (org-entry-is-done-p)))
      (priority . ,(if priority (string priority) :null))
      (commented . ,(answer-truth (org-in-commented-heading-p)))
      (own_tags . ,(answer-list (org-get-tags nil t)))
      (tags . ,(answer-list (org-get-tags)))
      (scheduled . ,(answer-text (org-entry-get (point) "SCHEDULED")))
      (deadline . ,(answer-text (org-entry-get (point) "DEADLINE")))
      (closed . ,(answer-text (org-entry-get (point) "CLOSED")))
      (properties . ,(answer-properties))
      (owner . ,(answer-text (org-entry-get (point) "Owner" t)))
      (place . ,(answer-text (org-entry-get (point) "place" t)))
      (category . ,(answer-text (org-get-category)))
      (id . ,(answer-text (org-entry-get (point) "ID"))))))

(defun answer-read (file)
  "What Org reads in FILE."
  (with-current-buffer (find-file-noselect file)
    (org-mode)
    (let (found)
      (goto-char (point-min))
      (while (re-search-forward org-outline-regexp-bol nil t)
        (save-excursion
          (goto-char (line-beginning-position))
          (push (answer-headline) found)))
      `((todo . ,(answer-list org-todo-keywords-1))
        (done . ,(answer-list org-done-keywords))
        (filetags . ,(answer-list org-file-tags))
        (tag_alist . ,(prin1-to-string org-current-tag-alist))
        (headlines . ,(vconcat (nreverse found)))))))

(defun answer-note (note)
  "Store NOTE if a change asked for one."
  (when (memq 'org-add-log-note post-command-hook)
    (let ((this-command org-log-note-this-command))
      (save-window-excursion
        (org-add-log-note)
        (unless (memq org-log-note-how '(time state))
          (with-current-buffer "*Org Note*"
            (goto-char (point-max))
            (insert note)
            (org-store-log-note)))))))

(defun answer-do (verb value note)
  "Do VERB with VALUE to the headline at point."
  (pcase verb
    ("todo" (org-todo (if (equal value "") 'none value)))
    ("schedule" (org-schedule nil value))
    ("deadline" (org-deadline nil value))
    ("unschedule" (org-schedule '(4)))
    ("remove-deadline" (org-deadline '(4)))
    ("rename" (org-edit-headline value))
    ("tags" (org-set-tags (and (not (equal value "")) (split-string value ":"))))
    ("put" (let ((pair (split-string value "="))) (org-entry-put (point) (car pair) (cadr pair))))
    ("delete" (org-entry-delete (point) value))
    ("id" (unless (org-entry-get (point) "ID") (org-entry-put (point) "ID" value)))
    ("note" (org-add-log-setup 'note nil nil 'note))
    ("priority" (org-priority (string-to-char value))))
  (answer-note note))

(defun answer-write (request)
  "The text that REQUEST leaves."
  (let* ((file (alist-get 'write request))
         (folder (make-temp-file "answer" t))
         (copy (expand-file-name (file-name-nondirectory file) folder))
         (settings (alist-get 'settings request))
         (before (mapcar (lambda (pair) (cons (car pair) (default-value (car pair)))) settings)))
    (copy-file file copy)
    (set-file-modes copy #o644)
    (unwind-protect
        (progn
          (dolist (pair settings) (set-default (car pair) (car (read-from-string (cdr pair)))))
          (with-current-buffer (find-file-noselect copy)
            (org-mode)
            (goto-char (point-min))
            (forward-line (1- (alist-get 'line request)))
            (answer-do (alist-get 'verb request) (alist-get 'value request) (alist-get 'note request))
            (when (buffer-modified-p) (save-buffer))
            (kill-buffer))
          (with-temp-buffer
            (let ((coding-system-for-read 'utf-8-unix)) (insert-file-contents copy))
            `((text . ,(buffer-string)))))
      (setq org-log-setup nil)
      (remove-hook 'post-command-hook 'org-add-log-note)
      (dolist (pair before) (set-default (car pair) (cdr pair)))
      (dolist (buffer (buffer-list))
        (when (equal (buffer-file-name buffer) copy)
          (with-current-buffer buffer (set-buffer-modified-p nil) (kill-buffer))))
      (delete-directory folder t))))

(defun answer (request)
  "The answer to REQUEST."
  (condition-case problem
      (if (alist-get 'read request) (answer-read (alist-get 'read request)) (answer-write request))
    (error `((error . ,(error-message-string problem))))))

(let* ((arguments command-line-args-left)
       (requests (with-temp-buffer
                   (let ((coding-system-for-read 'utf-8-unix)) (insert-file-contents (car arguments)))
                   (json-parse-buffer :object-type 'alist :array-type 'list)))
       (answers (json-serialize (vconcat (mapcar #'answer requests)))))
  (setq command-line-args-left nil)
  (let ((coding-system-for-write 'utf-8-unix))
    (with-temp-file (cadr arguments) (insert (decode-coding-string answers 'utf-8-unix)))))

;;; answer.el ends here

;; What is granted: without it the others would show nothing.
(component
  (import "wasi:filesystem/preopens@0.2.6" (instance)))

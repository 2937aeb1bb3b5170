;; Files, by an interface that is not there yet.
(component
  (import "wasi:filesystem/types@0.3.0" (instance (export "open" (func)))))

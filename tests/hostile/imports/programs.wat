;; A program, by an interface nobody has defined.
(component
  (import "wasi:cli/command-runner@0.2.6" (instance (export "spawn" (func)))))

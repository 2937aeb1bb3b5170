;; A function of no interface.
(component
  (import "system" (func)))

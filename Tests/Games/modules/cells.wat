;; Cells that live and die by the rule they are given, on a torus of 128 by 96. One byte is one cell.
(module
  (import "rules" "mix" (func $mix (param i32) (result i32)))
  (memory (export "memory") 1)
  (global $width i32 (i32.const 128))
  (global $height i32 (i32.const 96))
  (global $size i32 (i32.const 12288))
  ;; The generation that is shown starts here, the next one behind it.
  (global $now (mut i32) (i32.const 0))

  (func (export "cells") (result i32) (global.get $now))

  ;; Fills the field from a seed, a third of it alive.
  (func (export "seed") (param $state i32)
    (local $cell i32)
    (loop $next
      (local.set $state (call $mix (local.get $state)))
      (i32.store8
        (i32.add (global.get $now) (local.get $cell))
        (i32.lt_u (i32.and (local.get $state) (i32.const 255)) (i32.const 85)))
      (local.set $cell (i32.add (local.get $cell) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $cell) (global.get $size)))))

  (func (export "toggle") (param $x i32) (param $y i32)
    (local $place i32)
    (local.set $place (i32.add (global.get $now) (call $at (local.get $x) (local.get $y))))
    (i32.store8 (local.get $place) (i32.xor (i32.load8_u (local.get $place)) (i32.const 1))))

  ;; The number of a cell, whose coordinates may lie one outside of the field.
  (func $at (param $x i32) (param $y i32) (result i32)
    (i32.add
      (i32.mul
        (i32.rem_u (i32.add (local.get $y) (global.get $height)) (global.get $height))
        (global.get $width))
      (i32.rem_u (i32.add (local.get $x) (global.get $width)) (global.get $width))))

  (func $alive (param $x i32) (param $y i32) (result i32)
    (i32.load8_u (i32.add (global.get $now) (call $at (local.get $x) (local.get $y)))))

  (func $neighbours (param $x i32) (param $y i32) (result i32)
    (local $west i32) (local $east i32) (local $north i32) (local $south i32)
    (local.set $west (i32.sub (local.get $x) (i32.const 1)))
    (local.set $east (i32.add (local.get $x) (i32.const 1)))
    (local.set $north (i32.sub (local.get $y) (i32.const 1)))
    (local.set $south (i32.add (local.get $y) (i32.const 1)))
    (i32.add
      (i32.add
        (i32.add (call $alive (local.get $west) (local.get $north)) (call $alive (local.get $x) (local.get $north)))
        (i32.add (call $alive (local.get $east) (local.get $north)) (call $alive (local.get $west) (local.get $y))))
      (i32.add
        (i32.add (call $alive (local.get $east) (local.get $y)) (call $alive (local.get $west) (local.get $south)))
        (i32.add (call $alive (local.get $x) (local.get $south)) (call $alive (local.get $east) (local.get $south))))))

  ;; Bit n of `born` and `survives` says what n neighbours mean. Returns how many cells live.
  (func (export "step") (param $born i32) (param $survives i32) (result i32)
    (local $x i32) (local $y i32) (local $next i32) (local $rule i32) (local $cell i32) (local $count i32)
    (local.set $next (i32.sub (global.get $size) (global.get $now)))
    (loop $rows
      (local.set $x (i32.const 0))
      (loop $columns
        (local.set $rule
          (select (local.get $survives) (local.get $born) (call $alive (local.get $x) (local.get $y))))
        (local.set $cell
          (i32.and
            (i32.shr_u (local.get $rule) (call $neighbours (local.get $x) (local.get $y)))
            (i32.const 1)))
        (local.set $count (i32.add (local.get $count) (local.get $cell)))
        (i32.store8
          (i32.add (local.get $next) (call $at (local.get $x) (local.get $y)))
          (local.get $cell))
        (local.set $x (i32.add (local.get $x) (i32.const 1)))
        (br_if $columns (i32.lt_u (local.get $x) (global.get $width))))
      (local.set $y (i32.add (local.get $y) (i32.const 1)))
      (br_if $rows (i32.lt_u (local.get $y) (global.get $height))))
    (global.set $now (local.get $next))
    (local.get $count)))

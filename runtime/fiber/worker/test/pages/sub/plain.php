<?php
function plain(int $n): int { return $n * 21; }
function counted(): int { static $n = 0; return ++$n; }
class Plain { public static int $count = 5; }

<?php // ?bytes= in pieces of ?piece=
$piece = str_repeat('0123456789abcdef', intdiv((int) $_GET['piece'], 16));
for ($left = (int) $_GET['bytes']; $left > 0; $left -= strlen($piece)) {
    echo $piece;
}

<?php // Waits ?s= seconds in a method, called by an array function, in an included file.
require __DIR__ . '/sub/slow.php';

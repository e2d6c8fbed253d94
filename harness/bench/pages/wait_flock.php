<?php
// Waits for the lock of the file $_GET['file'], which somebody else holds.
$file = fopen($_GET['file'], 'c');
echo flock($file, LOCK_EX) ? 'waited' : 'not locked';

<?php // Waits ?ms= and tells how it went.
$begun = hrtime(true);
usleep(1000 * (int) ($_GET['ms'] ?? 100));
echo 'slept ', hrtime(true) - $begun >= 1000000 * (int) ($_GET['ms'] ?? 100) ? 'enough' : 'too little', ' ', $_GET['n'] ?? '';

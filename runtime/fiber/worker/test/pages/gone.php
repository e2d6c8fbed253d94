<?php // Loses its working directory and waits; another one goes to a folder of its own meanwhile.
$folder = getenv('ORDEAL_DATA') . '/' . $_GET['way'];
@mkdir($folder);
chdir($folder);
if ($_GET['way'] === 'leaves') {
    rmdir($folder);
    usleep(300000);
    echo getcwd() === false ? 'false' : getcwd();
} else {
    usleep(600000);
    echo basename(getcwd());
}

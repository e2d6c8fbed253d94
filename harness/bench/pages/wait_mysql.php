<?php
$mysql = new mysqli(null, $_GET['user'], '', '', 0, $_GET['socket']);
echo $mysql->query('SELECT SLEEP(1)')->fetch_row()[0] === '0' ? 'waited' : 'interrupted';

<?php
usleep((int) ($_GET['us'] ?? 1000000));
echo 'waited';

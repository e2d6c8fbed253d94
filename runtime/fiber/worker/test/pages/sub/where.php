<?php
echo getcwd() === __DIR__ ? 'in its folder' : getcwd(), ' ', $_SERVER['PHP_SELF'], ' ', $_SERVER['PATH_INFO'] ?? '-', ' ', $_SERVER['SCRIPT_NAME'];

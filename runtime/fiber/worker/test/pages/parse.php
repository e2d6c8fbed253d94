<?php
echo 'never';
$x = ;

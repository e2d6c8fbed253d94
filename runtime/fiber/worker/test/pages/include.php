<?php // Relative includes, plain functions and classes: each request anew.
require 'sub/plain.php';
$values = require 'sub/values.php';
echo plain(2), ' ', Plain::$count++, ' ', json_encode($values), ' ', json_encode(require 'sub/values.php'), ' ', counted(), counted(), "\n";

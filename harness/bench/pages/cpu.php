<?php
// About 2 ms of computing.
for ($i = 0, $text = ''; $i < 10500; $i++) {
    $text = md5($text . $i);
}
echo $text;

<?php echo 'the body stays where it is';

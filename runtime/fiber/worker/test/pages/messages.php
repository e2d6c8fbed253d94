<?php // Messages for the error log, which go to the client's stderr stream too.
error_log('one');
error_log("two\nlines");
echo $undefined;
trigger_error('noticed', E_USER_NOTICE);
error_log(str_repeat('long ', 3000));
echo 'done';

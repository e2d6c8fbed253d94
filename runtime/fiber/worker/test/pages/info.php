<?php // What the launcher asks until it is answered.
echo json_encode(['pid' => getmypid()]);

<?php
echo ini_get('precision'), ' ', ini_get('user_agent'), ' ', 1 / 3;

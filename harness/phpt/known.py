"""Differences that are understood and stay, each script with its reason. They are counted apart and do not fail a run."""

_IDENTITY = "fiber-fpm is linked with libphp-embed: it reads /etc/php/8.2/embed, where Debian enables pcntl, and has no fpm_get_status()"
_BINARY = "it runs PHP_BINARY, or says it: another program on each side"
_ERRNO = "it shows the errno that another call has left: of the last write of the answer, or of whatever was there before the script"
_REALPATH = "it looks for entries in the realpath cache, which is the process's: others in flight empty it with clearstatcache(true)"

_JIT = "it asks for pcre.jit=0 with a pattern that the process has compiled for another script: as in a php-fpm worker, it stays as it is"
_FOLDER = "it makes and removes the folder disk_total_space, as another script in flight does"

KNOWN = {
    "Zend/tests/017": _IDENTITY,
    "Zend/tests/memory_get_peak_usage": "it prints the bytes that a request takes before its script starts: some that the server has put there",
    "ext/spl/tests/gh14290": _JIT,
    "ext/standard/tests/file/bug35740": _ERRNO,
    "ext/standard/tests/file/clearstatcache_001": _REALPATH,
    "ext/standard/tests/file/disk_total_space_basic": _FOLDER,
    "ext/standard/tests/file/disk_total_space_variation": _FOLDER,
    "ext/standard/tests/file/file_get_contents_error_folder": "it prints the size of its folder, in which others write",
    "ext/standard/tests/file/filesize_basic": "it prints the size of its folder, in which others write",
    "ext/standard/tests/file/fread_variation2": _ERRNO,
    "ext/standard/tests/file/fread_variation4": _ERRNO,
    "ext/standard/tests/general_functions/bug70018": _BINARY,
    "ext/standard/tests/general_functions/get_loaded_extensions_basic": _IDENTITY,
    "ext/standard/tests/general_functions/proc_open-mb0": _BINARY,
    "ext/standard/tests/general_functions/proc_open-mb1": _BINARY,
    "ext/standard/tests/streams/proc_open_bug51800_right": _BINARY,
    "ext/standard/tests/streams/proc_open_bug51800_right2": _BINARY,
    "ext/standard/tests/streams/proc_open_bug64438": _BINARY,
    "ext/standard/tests/streams/proc_open_bug69900": _BINARY,
    "ext/standard/tests/strings/str_shuffle": "six random answers: now and then the control gives the same twice",
    "ext/standard/tests/strings/strncmp_basic": "it prints what libc's memcmp() gives, which depends on where the bytes lie",
    "tests/basic/bug54514": _BINARY,
}

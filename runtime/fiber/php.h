/* PHP's own headers, in one place and as system headers: they do not pass the warnings that our code is held
 * to. */
#ifndef ORDEAL_FIBER_PHP_H
#define ORDEAL_FIBER_PHP_H

#pragma GCC system_header

#include <main/php.h>

#include <Zend/zend_exceptions.h>
#include <Zend/zend_extensions.h>
#include <Zend/zend_fibers.h>
#include <Zend/zend_ini_scanner.h>
#include <Zend/zend_language_scanner.h>
#include <Zend/zend_map_ptr.h>
#include <Zend/zend_observer.h>
#include <Zend/zend_signal.h>
#include <ext/filter/php_filter.h>
#include <ext/json/php_json.h>
#include <ext/pcre/php_pcre.h>
#include <ext/random/php_random.h>
#include <ext/session/php_session.h>
#include <ext/standard/basic_functions.h>
#include <ext/standard/file.h>
#include <ext/standard/head.h>
#include <main/SAPI.h>
#include <main/http_status_codes.h>
#include <main/php_ini.h>
#include <main/php_main.h>
#include <main/php_output.h>
#include <main/php_variables.h>

#endif

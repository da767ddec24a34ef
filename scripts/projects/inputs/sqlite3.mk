# SPDX-License-Identifier: MIT
# How the amalgamation's own documents compile it, and its test program with fuzzed databases.
CC = cc
CFLAGS = -O2
OPTIONS = -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_ENABLE_FTS4 \
  -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_RTREE -DSQLITE_ENABLE_EXPLAIN_COMMENTS
FUZZED = -DSQLITE_ENABLE_MEMSYS5 -DSQLITE_OSS_FUZZ -DSQLITE_MAX_MEMORY=50000000 \
  -DSQLITE_PRINTF_PRECISION_LIMIT=1000

sqlite3: shell.o sqlite3.o
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ shell.o sqlite3.o -lm

%.o: %.c
	$(CC) $(CFLAGS) $(OPTIONS) -c -o $@ $<

fuzzcheck: fuzzcheck.c ossfuzz.c fuzzinvariants.c dbdata.c sqlite3recover.c vt02.c sqlite3.o
	$(CC) $(CFLAGS) $(LDFLAGS) $(OPTIONS) $(FUZZED) -o $@ $^ -lm

check: sqlite3 fuzzcheck
	./fuzzcheck --quiet fuzzdata1.db
	test "$$(echo 'select sum(value) from generate_series(1,1000);' | ./sqlite3)" = 500500

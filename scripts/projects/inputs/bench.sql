-- SPDX-License-Identifier: MIT
-- Fill tables, index, join, sort, group, update and delete.
PRAGMA journal_mode = OFF;
CREATE TABLE item(id INTEGER PRIMARY KEY, parent INTEGER, name TEXT, weight REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < @N@)
INSERT INTO item SELECT i, i / 7, printf('%x-%d', (i * 7919) % 104729, i % 13),
  ((i * 31) % 1009) / 8.0 FROM n;
CREATE INDEX item_name ON item(name);
CREATE INDEX item_parent ON item(parent, weight);
SELECT count(*), min(name), max(name), sum(weight) FROM item;
SELECT substr(name, -2), count(*), avg(weight) FROM item GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 5;
SELECT count(*), sum(child.weight - up.weight) FROM item AS child JOIN item AS up
  ON child.parent = up.id WHERE up.weight > 20;
SELECT count(*) FROM item WHERE name LIKE '%a%-1_' AND id IN (SELECT parent FROM item);
SELECT name, row_number() OVER (PARTITION BY parent % 11 ORDER BY weight, id) AS place
  FROM item ORDER BY place DESC, name LIMIT 3;
UPDATE item SET weight = weight * 2, name = upper(name) WHERE id % 3 = 0;
DELETE FROM item WHERE parent % 5 = 2;
SELECT count(*), sum(weight), count(DISTINCT name) FROM item;
SELECT json_extract(json_object('a', name, 'b', json_array(id, weight)), '$.b[1]') AS w, count(*)
  FROM item GROUP BY w ORDER BY 2 DESC, 1 LIMIT 3;
CREATE VIRTUAL TABLE words USING fts5(text);
INSERT INTO words SELECT replace(name, '-', ' ') FROM item WHERE id % 4 = 0;
SELECT count(*) FROM words WHERE words MATCH '1* NOT 12';
PRAGMA integrity_check;

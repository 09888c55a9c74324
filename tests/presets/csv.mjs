// The reference tables that presets are compared with, as lists of {column: text}.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const data_folder = join(import.meta.dirname, '..', 'data');

/** RFC 4180: quoted fields may hold commas and doubled quotes. */
function split_line(line) {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain);
}

export function read_table(name) {
  const [head, ...lines] = readFileSync(join(data_folder, name), 'utf8').trimEnd().split(/\r?\n/);
  const columns = split_line(head);
  return lines.map((line) => Object.fromEntries(split_line(line).map((field, i) => [columns[i], field])));
}

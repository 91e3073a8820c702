import { exactDigitsOf } from '@actlog/tool-call';
import { hostsIn, isUrl } from './value-search.ts';

/** Longest value of a line that counts as a field, in characters. */
const longestField = 200;

/** Longest result of one line that counts as a field, in characters. */
const longestLine = 64;

/** Receives a segment of a result: a field's value with its name, if it has one, or running text. */
export type SegmentReader = (text: string, isField: boolean, name?: string) => void;

/** A line such as `key: value` or `- value`: the indentation, the marker of a list, the key, the value. */
const fieldLine = /^([ \t]*)((?:- )*)(?:([\w$.-]+(?: [\w$.-]+){0,3}) ?(?:[:=](?: +|\t+|$)|=))?(.*)$/;

/** Header lines of a mail, up to the empty line before its body. Those without an address may be its sender's words. */
const mailHeaders = /^(?:[A-Z][\w-]*: .*\n)*From: .*\n(?:[A-Z][\w-]*: .*\n)*(?=\s*\n)/;
/** Separators of the cells of a row: tabs, bars, the commas of CSV, or the spaces between columns. */
const separators = [/\t/, / *\| */, /[,;](?! )/, / {2,}/];
/** Lines of a table without cells: rules and the number of rows. */
const noRow = /^(?:[\s|+:=-]*|\(\d+ rows?\))$/;
/** Values within a field: addresses of mailboxes, owner and name of a repository, and the host of a URL. */
const mailboxes = /<([^<>\s]+@[^<>\s]+)>/g;
const repository =
  /^(?:(?:https?|ssh):\/\/|git@)[\w.@-]+[:/]([\w.-]+)\/([\w.-]+?)(?:\.git)?(?: \((?:fetch|push)\))?$/;

/** Returns the values that a field consists of, beside the whole one. */
export function partsOfField(text: string): string[] {
  if (text.length > longestField) return [];
  const [, ...parts] = repository.exec(text) ?? [...text.matchAll(mailboxes)].flat();
  return [...parts, ...(isUrl(text) ? hostsIn(text) : [])];
}

/** Returns the rows of a table with the same number of cells in each; undefined for other text. */
function rowsOf(lines: readonly string[]): string[][] | undefined {
  const filled = lines.filter((line) => !noRow.test(line));
  if (filled.length < 2) return undefined;
  for (const separator of separators) {
    const rows = filled.map((line) => line.trim().split(separator));
    const width = rows[0]?.length ?? 0;
    if (width > 1 && rows.every((row) => row.length === width)) return rows;
  }
  return undefined;
}

/**
 * Splits a result that is plain text into fields: lines of `key: value` and list items, as YAML writes them, the headers
 * of a mail, and the cells of a table. Quoted values over several lines, values indented below their key, and results
 * with few such lines are running text.
 */
export function readSegments(text: string, read: SegmentReader): void {
  if (!text.includes('\n')) {
    read(text, isShortLine(text));
    return;
  }
  const [headers] = mailHeaders.exec(text) ?? [];
  if (headers !== undefined) {
    for (const line of headers.trimEnd().split('\n')) {
      const colon = line.indexOf(': ');
      read(line.slice(colon + 2), line.includes('@', colon), line.slice(0, colon));
    }
    read(text.slice(headers.length), false);
    return;
  }
  const lines = text.split('\n');
  const rows = rowsOf(lines);
  if (rows !== undefined) {
    const names = rows[0] as string[];
    for (const row of rows) {
      for (const [column, cell] of row.entries()) read(cell, cell.length <= longestField, names[column]);
    }
    return;
  }
  if (!looksStructured(lines)) {
    read(text, false);
    return;
  }
  let prose = '';
  let quote = '';
  const flush = () => {
    if (prose !== '') read(prose, false);
    prose = '';
  };
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] as string;
    if (quote !== '') {
      prose += `\n${line}`;
      if (closes(line, quote)) {
        quote = '';
        flush();
      }
      continue;
    }
    const [, indent = '', marker = '', key, value = ''] = fieldLine.exec(line) as RegExpExecArray;
    const next = lines[at + 1];
    const opened = openedQuote(value);
    if (opened !== '' && !closesAfter(value, opened)) {
      flush();
      quote = opened;
      prose = value;
      continue;
    }
    const isField = (key !== undefined || marker !== '') && value.length <= longestField;
    const goesOn = next !== undefined && continuesValue(next, indent.length, value);
    if (!isField || goesOn || (prose !== '' && key === undefined && marker === '')) {
      if (key !== undefined || marker !== '') flush();
      prose += `\n${value}`;
      continue;
    }
    flush();
    if (value !== '') read(value, true, key);
  }
  flush();
}

/** `true` for a line of at most four words, which counts as a field. */
function isShortLine(text: string): boolean {
  return text.length <= longestLine && text.trim().split(/\s+/, 5).length <= 4;
}

/** `true` if most of the lines at the lowest indentation are fields or items of a list. */
function looksStructured(lines: readonly string[]): boolean {
  const first = lines.find((line) => line.trim() !== '');
  if (first === undefined) return false;
  const [, , marker = '', key] = fieldLine.exec(first) as RegExpExecArray;
  if (marker === '' && key === undefined) return false;
  let outer = 0;
  let fields = 0;
  for (const line of lines) {
    if (line === '' || line.startsWith(' ') || line.startsWith('\t')) continue;
    outer += 1;
    const [, , mark = '', name] = fieldLine.exec(line) as RegExpExecArray;
    if (mark !== '' || name !== undefined) fields += 1;
  }
  return outer === 0 ? true : fields * 4 >= outer * 3;
}

function openedQuote(value: string): string {
  const first = value[0];
  return first === '"' || first === "'" ? first : '';
}

function closesAfter(value: string, quote: string): boolean {
  return value.length > 1 && closes(value.slice(1), quote);
}

/** `true` if a quote that was opened before this text ends at its end. */
function closes(text: string, quote: string): boolean {
  const trimmed = text.trimEnd();
  if (!trimmed.endsWith(quote)) return false;
  let count = 0;
  if (quote === "'") {
    while (count < trimmed.length && trimmed[trimmed.length - 1 - count] === "'") count += 1;
    return count % 2 === 1;
  }
  while (count < trimmed.length - 1 && trimmed[trimmed.length - 2 - count] === '\\') count += 1;
  return count % 2 === 0;
}

/** `true` if the next line continues a value: it is indented deeper, and is not a field itself. */
function continuesValue(next: string, indent: number, value: string): boolean {
  const [, inner = '', marker = '', key, rest = ''] = fieldLine.exec(next) as RegExpExecArray;
  if (value === '' || value === '|' || value === '>' || value === '|-' || value === '>-') {
    return value !== '' && inner.length > indent;
  }
  return inner.length > indent && marker === '' && key === undefined && rest !== '';
}

/** Maximum number of values to read of arguments or of a result. */
const maxValues = 5000;
const maxDepth = 20;
/** An object with more keys is a map, whose keys are data. */
const maxNamedKeys = 32;
/** Keys that are names rather than data such as an address, a number or a sentence. */
const nameLike = /^[\p{L}_$][\p{L}\p{M}\p{N}_$ -]{0,63}$/u;
const manyDigits = /\d.*\d.*\d.*\d/;

/** Part of a path in place of a key that is data. */
const anyKey = '*';

function namePart(key: string): string {
  return nameLike.test(key) && key !== '__proto__' && !manyDigits.test(key) ? key : anyKey;
}

/** Returns the text, or its beginning and end if it is longer than the limit. */
export function endsOf(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const tail = maxCharacters >> 2;
  return `${text.slice(0, maxCharacters - tail)}\n${text.slice(-tail)}`;
}

/** Receives a string or number in a value with its path; `isPartial` is `true` if a part of it was left out. */
export type LeafReader = (text: string, path: string, isPartial: boolean) => void;

/**
 * Reads the strings and numbers in a value, up to limits. Paths are the keys joined with dots, without array indexes;
 * a key that is data rather than a name is `*`.
 */
export class ValueReader {
  /** `true` if a part of the value was not read. */
  isPartial = false;
  /** Characters that may still be read. */
  #characters: number;
  #values = maxValues;

  /** @param maxCharacters - maximum number of characters to read, of all strings together */
  constructor(maxCharacters: number) {
    this.#characters = maxCharacters;
  }

  /** Calls `leaf` for each string and number. Never throws. */
  read(value: unknown, leaf: LeafReader): void {
    try {
      this.#read(value, '', 0, leaf);
    } catch {
      this.isPartial = true; // a getter or a proxy threw
    }
  }

  #read(value: unknown, path: string, depth: number, leaf: LeafReader): void {
    if (typeof value === 'string') {
      this.#leaf(value, path, leaf);
      return;
    }
    if (typeof value === 'number' || typeof value === 'bigint') {
      this.#leaf(String(value), path, leaf);
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    const digits = exactDigitsOf(value);
    if (digits !== undefined) {
      this.#leaf(digits, path, leaf);
      return;
    }
    if (depth > maxDepth || ArrayBuffer.isView(value)) {
      this.isPartial = true;
      return;
    }
    if (Array.isArray(value)) {
      for (const item of value) {
        if (!this.#takeValue()) return;
        this.#read(item, path, depth + 1, leaf);
      }
      return;
    }
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === 'function') {
      this.#read((toJSON as () => unknown).call(value), path, depth + 1, leaf);
      return;
    }
    const keys = Object.keys(value);
    for (const key of keys) {
      if (!this.#takeValue()) return;
      const name = keys.length > maxNamedKeys ? anyKey : namePart(key);
      const inner = path === '' ? name : `${path}.${name}`;
      this.#read((value as Record<string, unknown>)[key], inner, depth + 1, leaf);
    }
  }

  #takeValue(): boolean {
    this.#values -= 1;
    if (this.#values < 0) this.isPartial = true;
    return this.#values >= 0;
  }

  #leaf(text: string, path: string, leaf: LeafReader): void {
    const isPartial = text.length > this.#characters;
    if (isPartial) this.isPartial = true;
    const read = endsOf(text, this.#characters);
    this.#characters = Math.max(0, this.#characters - read.length);
    if (read !== '') leaf(read, path === '' ? 'value' : path, isPartial);
  }
}

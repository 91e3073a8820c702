// Counts what makes the sources easy or hard to read, and fails above the limits: `npm run house`.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';
import { root } from './workspace.ts';

/** Limits of the counts; lower one when it is beaten. */
const limits = {
  files: 889,
  'files with exactly one importer': 247,
  lines: 150_700,
} as const;

/** Words that this project used far more often than others do, with the limit for a thousand words of comments. */
const rates = {
  own: { words: /\bown\b/gi, limit: 0.4 },
  'that of, those of': { words: /\b(that|those) of\b/gi, limit: 0.2 },
  'a text, texts': { words: /\b(a text|texts)\b/gi, limit: 0.19 },
} as const;

const isTest = (path: string) =>
  /\.test(-d)?\.tsx?$|\/(tests|testing|node_modules|dist|api-report)\/|\.config\.m?ts$/.test(path);

const sources = globSync('packages/**/*.{ts,tsx}', {
  cwd: root,
  exclude: (path) => /node_modules|\/dist$/.test(path),
}).filter((path) => !isTest(path) && !path.endsWith('.d.ts'));
const known = new Set(sources);

/** Returns the relative modules that a file imports, exports again or loads. */
function importsOf(path: string, text: string): string[] {
  return ts
    .preProcessFile(text, true, true)
    .importedFiles.filter(({ fileName }) => fileName.startsWith('.'))
    .map(({ fileName }) => normalize(join(dirname(path), fileName)))
    .filter((target) => known.has(target));
}

/** Returns the words of all comments of a file. */
function commentsOf(text: string): string {
  return [...text.matchAll(/\/\*\*?([\s\S]*?)\*\/|(?:^|\s)\/\/(.*)$/gm)]
    .map((match) => match[1] ?? match[2])
    .join('\n');
}

const importers = new Map<string, Set<string>>(sources.map((path) => [path, new Set()]));
const lines: number[] = [];
let comments = '';
for (const path of sources) {
  const text = readFileSync(join(root, path), 'utf8');
  lines.push(text.split('\n').length - 1);
  comments += commentsOf(text);
  for (const target of importsOf(path, text)) importers.get(target)?.add(path);
}

const counts = {
  files: sources.length,
  'files with exactly one importer': [...importers.values()].filter(({ size }) => size === 1).length,
  lines: lines.reduce((sum, count) => sum + count, 0),
};
const words = comments.split(/\s+/).length;
const rows = [
  ...Object.entries(counts).map(([name, value]) => ({
    name,
    value,
    limit: limits[name as keyof typeof limits],
  })),
  ...Object.entries(rates).map(([name, { words: pattern, limit }]) => ({
    name: `"${name}" in a thousand words of comments`,
    value: Math.round(((comments.match(pattern)?.length ?? 0) / words) * 100_000) / 100,
    limit,
  })),
];
for (const { name, value, limit } of rows) {
  console.log(`${name}: ${value} (limit ${limit})${value > limit ? '  OVER THE LIMIT' : ''}`);
}
console.log(`median of lines a file: ${lines.sort((a, b) => a - b)[lines.length >> 1]}`);
if (process.argv.includes('--list')) {
  for (const [path, users] of importers) if (users.size === 1) console.log(`  ${path} <- ${[...users][0]}`);
}
if (rows.some(({ value, limit }) => value > limit)) process.exitCode = 1;

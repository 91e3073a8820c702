import { readdirSync, statSync } from 'node:fs';
import { join, normalize, resolve } from 'node:path';
import { ConditionError, parseCondition, schemaRefusal } from '@actlog/policy';
import {
  type Document,
  isCollection,
  isMap,
  isScalar,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from 'yaml';
import type * as z from 'zod';
import { UsageError } from '../../errors/usage-error.ts';
import { readInput } from '../../options/read-json.ts';
import { filePolicy, type PoliciesFile, policiesFile } from './policies-file.ts';
import {
  type FileProblem,
  type Placed,
  type PlacedPolicy,
  type PlacedTest,
  PolicyFileError,
  type PolicyFiles,
  type Position,
  positionText,
} from './policy-files.ts';

/** Forms of a file: an object with policies and tests, a list of policies, and one policy. */
type Form = 'file' | 'list' | 'policy';

/**
 * Reads and validates policy files.
 *
 * @param paths - files and folders; `policies` if there are none
 * @throws UsageError when a file cannot be read, or no file has a list of policies
 * @throws PolicyFileError with all problems of the files, with file, line and column
 */
export async function readPolicyFiles(paths: readonly string[]): Promise<PolicyFiles> {
  const problems: FileProblem[] = [];
  const policies: PlacedPolicy[] = [];
  const tests: PlacedTest[] = [];
  let hasPolicies = false;
  const files = findPolicyFiles(paths);
  for (const file of files) {
    const source = new SourceFile(file === '-' ? 'standard input' : file, await readInput(file));
    const read = readFile(source, problems);
    hasPolicies ||= read?.policies !== undefined;
    policies.push(...(read?.policies ?? []));
    tests.push(...(read?.tests ?? []));
  }
  problems.push(...duplicatesIn(policies));
  if (problems.length > 0) throw new PolicyFileError(problems);
  // An empty list is a statement; no list at all is a wrong path.
  if (!hasPolicies)
    throw new UsageError(`There are no policies in ${files.join(', ')}: add a list "policies".`);
  return { policies, tests };
}

function readFile(source: SourceFile, problems: FileProblem[]): Partial<PolicyFiles> | undefined {
  if (source.problems.length > 0) {
    problems.push(...source.problems);
    return undefined;
  }
  const value = contentOf(source, problems);
  if (value === undefined) return undefined;
  const form = formOf(value);
  if (form === undefined) {
    const message =
      'must contain an object with "policies" or "tests", a list of policies, or one policy with a "name"';
    problems.push({ position: source.positionOf([]), message });
    return undefined;
  }
  const result = parse(form, value);
  if (!result.success) {
    problems.push(...result.error.issues.flatMap((issue) => problemsOf(source, issue)));
    return undefined;
  }
  const { policies, tests, testsAlone: isAlone = false } = result.data;
  const base = { file: ['policies'], list: [], policy: [] }[form];
  const placed = policies?.map((policy, index) => {
    const place = placeOf(source, form === 'policy' ? base : [...base, index]);
    return { policy, ...place };
  });
  for (const one of placed ?? []) problems.push(...contradictionsIn(one));
  return {
    ...(placed && { policies: placed }),
    tests: (tests ?? []).map((test, index) => ({
      test,
      isAlone,
      ...placeOf(source, ['tests', index]),
    })),
  };
}

function contentOf(source: SourceFile, problems: FileProblem[]): unknown {
  try {
    return source.toValue();
  } catch (error) {
    problems.push({ position: source.positionOf([]), message: (error as Error).message });
    return undefined;
  }
}

function formOf(value: unknown): Form | undefined {
  if (Array.isArray(value)) return 'list';
  if (typeof value !== 'object' || value === null) return undefined;
  if ('policies' in value || 'tests' in value) return 'file';
  return 'name' in value || 'effect' in value ? 'policy' : undefined;
}

function parse(form: Form, value: unknown): z.ZodSafeParseResult<PoliciesFile> {
  if (form === 'file') return policiesFile.safeParse(value);
  const result = form === 'list' ? filePolicy.array().safeParse(value) : filePolicy.safeParse(value);
  if (!result.success) return result as z.ZodSafeParseError<never>;
  return { success: true, data: { policies: [result.data].flat() } };
}

function placeOf(source: SourceFile, base: readonly PropertyKey[]): Placed {
  return {
    position: source.positionOf(base),
    positionOf: (path, offset) =>
      offset === undefined
        ? source.positionOf([...base, ...path])
        : source.positionIn([...base, ...path], offset),
  };
}

/** Returns the problems of a broken rule of the schema, worded as the service words them. */
function problemsOf(source: SourceFile, issue: z.core.$ZodIssue): FileProblem[] {
  const { details = [] } = schemaRefusal('body', [issue]);
  const keys = issue.code === 'unrecognized_keys' ? issue.keys : [];
  return details.map(({ path, message }, index) => {
    const key = keys[index];
    const position =
      key === undefined ? source.positionOf(issue.path) : source.positionOfKey(issue.path, key);
    return { position, message: path === '' ? message : `${path}: ${message}` };
  });
}

/** Returns the problems of a policy that the schema cannot express. */
function contradictionsIn({ policy, positionOf }: PlacedPolicy): FileProblem[] {
  const problems: FileProblem[] = [];
  if (policy.approval != null && policy.effect !== 'require_approval') {
    const message = 'approval: is allowed only with the effect require_approval';
    problems.push({ position: positionOf(['approval']), message });
  }
  try {
    if (policy.condition != null) parseCondition(policy.condition);
  } catch (error) {
    if (!(error instanceof ConditionError)) throw error;
    problems.push({
      position: positionOf(['condition'], error.offset),
      message: `condition: ${error.finding}`,
    });
  }
  return problems;
}

/** Returns a problem for each policy whose name another one has. */
function duplicatesIn(policies: readonly PlacedPolicy[]): FileProblem[] {
  const first = new Map<string, Position>();
  return policies.flatMap(({ policy: { name }, positionOf }) => {
    const position = positionOf(['name']);
    const other = first.get(name);
    if (other === undefined) {
      first.set(name, position);
      return [];
    }
    const message = `name: another policy has the name "${name}" (${positionText(other)}); names must be unique`;
    return [{ position, message }];
  });
}

/** Path of commands that are given none. */
const defaultPath = 'policies';

/**
 * Returns the policy files that paths name, each once. A folder stands for all `.yaml`, `.yml` and `.json` files in it
 * and its folders, by name, except hidden ones and `node_modules`. `-` is standard input.
 *
 * @param paths - files and folders; `policies` if there are none
 * @throws UsageError for a path that does not exist, and for a folder without such files
 */
function findPolicyFiles(paths: readonly string[]): string[] {
  const found = new Map<string, string>();
  for (const path of paths.length === 0 ? [defaultPath] : paths) {
    for (const file of filesOf(path)) found.set(file === '-' ? file : resolve(file), file);
  }
  return [...found.values()];
}

function filesOf(path: string): string[] {
  if (path === '-') return [path];
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) {
    throw new UsageError(
      `There is no file or folder "${path}". \`actlog policies pull FILE\` creates a file with the policies of the service.`,
    );
  }
  if (!stats.isDirectory()) return [normalize(path)];
  const files = filesIn(path);
  if (files.length > 0) return files;
  throw new UsageError(`The folder "${path}" has no .yaml, .yml or .json files.`);
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  entries.sort((left, right) => (left.name < right.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const { name } = entry;
    if (name.startsWith('.') || name === 'node_modules') return [];
    const path = join(folder, name);
    if (entry.isDirectory()) return filesIn(path);
    if (!/\.(ya?ml|json)$/.test(name)) return [];
    // Links to files count, as in a Kubernetes volume. Links to folders could form a circle.
    return statSync(path, { throwIfNoEntry: false })?.isFile() ? [path] : [];
  });
}

/** A YAML or JSON file, with the positions of its values. JSON is read as YAML, which includes it. */
class SourceFile {
  readonly file: string;
  readonly #text: string;
  readonly #lines = new LineCounter();
  readonly #document: Document.Parsed;

  constructor(file: string, text: string) {
    this.file = file;
    this.#text = text;
    // Pretty errors quote the file.
    this.#document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false });
    visit(this.#document, {
      Scalar: (_key, node) => {
        // As the service reads arguments: another number would have the same double.
        const isLarge = typeof node.value === 'number' && !Number.isSafeInteger(node.value);
        if (isLarge && /^[+-]?\d+$/.test(node.source ?? '')) node.value = BigInt(node.source as string);
      },
    });
  }

  /** Syntax errors of the file. */
  get problems(): FileProblem[] {
    return this.#document.errors.map(({ code, message, pos }) => ({
      position: this.#at(pos[0]),
      message:
        code === 'MULTIPLE_DOCS' ? 'has more than one document; put all policies into one list' : message,
    }));
  }

  /** Returns the content as plain values, with a BigInt for a whole number beyond 2^53. @throws ReferenceError for aliases that expand to too many values */
  toValue(): unknown {
    return this.#document.toJS();
  }

  /** Returns the position of a value, or of the object it is missing from. */
  positionOf(path: readonly PropertyKey[]): Position {
    return this.#at(this.#nodeAt(path)?.range?.[0] ?? 0);
  }

  /** Returns the position of a key in an object. */
  positionOfKey(path: readonly PropertyKey[], key: string): Position {
    const node = this.#nodeAt(path);
    const pair = isMap(node)
      ? node.items.find((one) => isScalar(one.key) && one.key.value === key)
      : undefined;
    return this.#at((pair?.key as Node | undefined)?.range?.[0] ?? node?.range?.[0] ?? 0);
  }

  /** Returns the position of a character of a string value, by its offset in the string. */
  positionIn(path: readonly PropertyKey[], offset: number): Position {
    const node = this.#nodeAt(path);
    if (!isScalar(node) || typeof node.value !== 'string' || !node.range) return this.positionOf(path);
    const [start, end] = node.range;
    const isBlock = node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED';
    const first = isBlock ? this.#text.indexOf('\n', start) : start + (node.type === 'PLAIN' ? 0 : 1);
    // The file indents, folds and escapes the text, but has its visible characters in the same order.
    let at = first;
    for (const character of node.value.slice(0, offset).replaceAll(/\s/g, '')) {
      at = this.#text.indexOf(character, at) + character.length;
    }
    const target = node.value.slice(offset).trimStart().charAt(0);
    const found = target === '' ? at : this.#text.indexOf(target, at);
    return this.#at(found < first || found >= end ? start : found);
  }

  /** Returns the innermost node on a path that is in the file. */
  #nodeAt(path: readonly PropertyKey[]): Node | null {
    let node: unknown = this.#document.contents;
    for (const key of path) {
      const inner: unknown = isCollection(node) ? node.get(key, true) : undefined;
      if (!inner || !(inner as Node).range) break;
      node = inner;
    }
    return node as Node | null;
  }

  #at(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset);
    return { file: this.file, line: Math.max(1, line), column: Math.max(1, col) };
  }
}

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Document, isMap, isScalar, isSeq, parseDocument, Scalar, stringify, type YAMLMap } from 'yaml';
import { UsageError } from '../../errors/usage-error.ts';
import { writeFile } from '../../output/print-list.ts';
import { packNamed } from './policy-pack.ts';

/** Options of {@link addPack}. */
export interface AddPackOptions {
  /** Folder of the policy files. */
  readonly folder: string;
  /** `true` enforces the policies of the pack. Default: new ones are `log_only`, and others stay as they are. */
  readonly enforce: boolean;
  /** `true` writes nothing. */
  readonly dryRun?: boolean | undefined;
}

/** Outcome of {@link addPack}. */
export interface AddedPack {
  readonly file: string;
  /** Changes, as lines for people. */
  readonly lines: readonly string[];
  readonly isChanged: boolean;
}

/**
 * Writes a pack to a separate file, or upgrades the file. What the user changed, added or removed stays: a copy of the pack
 * as it was added, beside the file, tells changes of the user from changes of the pack.
 *
 * @throws UsageError when there is no such pack, or the file cannot be read or written
 */
export function addPack(name: string, { folder, enforce, dryRun = false }: AddPackOptions): AddedPack {
  const { text: packText } = packNamed(name);
  const file = join(folder, `${name}.yaml`);
  const baseFile = join(folder, '.packs', `${name}.yaml`);
  const before = read(file);
  const base = read(baseFile) ?? packText;
  const lines: string[] = [];
  const pack = documentOf(packText, name);
  let after: string;
  if (before === undefined) {
    for (const item of itemsOf(pack, 'policies')) setMode(item, enforce ? 'enforce' : 'log_only');
    after = textOf(pack);
    lines.push(...itemsOf(pack, 'policies').map((item) => `+ ${nameOf(item)}`));
  } else {
    const local = documentOf(before, file);
    for (const list of ['policies', 'tests'] as const) {
      lines.push(...mergeList(list, { local, base: documentOf(base, baseFile), pack }));
    }
    if (enforce) lines.push(...enforced(local, pack));
    after = lines.some((line) => !line.startsWith('!')) ? textOf(local) : before;
  }
  const isChanged = after !== before;
  if (!dryRun && isChanged) writeFile(file, after);
  if (!dryRun && read(baseFile) !== packText) writeFile(baseFile, packText);
  return { file, lines, isChanged };
}

function read(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new UsageError(`The file "${file}" cannot be read: ${(cause as Error).message}.`, { cause });
  }
}

function documentOf(text: string, file: string): Document.Parsed {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error) throw new UsageError(`The file "${file}" is not valid YAML: ${error.message}`);
  return document;
}

function textOf(document: Document): string {
  return document.toString({ lineWidth: 100, flowCollectionPadding: true });
}

type Item = YAMLMap<unknown, unknown>;

/** Returns the policies or tests of a file. */
function itemsOf(document: Document, list: 'policies' | 'tests'): Item[] {
  const items = document.get(list, true);
  return isSeq(items) ? (items.items.filter((item) => isMap(item)) as Item[]) : [];
}

function nameOf(item: Item): string {
  const name = item.get('name');
  return typeof name === 'string' ? name : '';
}

/** Returns a policy or a test without its mode, which belongs to the user. */
function contentOf(item: Item): Record<string, unknown> {
  const { mode: _mode, ...content } = item.toJSON() as Record<string, unknown>;
  return content;
}

function isSame(left: Item | undefined, right: Item | undefined): boolean {
  return left !== undefined && right !== undefined && isDeepStrictEqual(contentOf(left), contentOf(right));
}

/** The file of the user, the pack as it was added, and the pack as it is now. */
interface Versions {
  readonly local: Document;
  readonly base: Document;
  readonly pack: Document;
}

/** Merges a list of a pack into the user's file, and returns what changed, and what was left, as lines. */
function mergeList(list: 'policies' | 'tests', { local, base, pack }: Versions): string[] {
  const named = (items: readonly Item[], name: string) => items.find((item) => nameOf(item) === name);
  const [own, earlier, now] = [local, base, pack].map((document) => itemsOf(document, list)) as [
    Item[],
    Item[],
    Item[],
  ];
  const items = local.get(list, true);
  if (!isSeq(items)) return [];
  const lines: string[] = [];
  for (const item of now) {
    const name = nameOf(item);
    const ofUser = named(own, name);
    const former = named(earlier, name);
    if (isSame(ofUser, item) || (!ofUser && isSame(former, item))) continue;
    if (!ofUser && former) lines.push(`! ${name}: changed in the pack; you removed it, so it stays removed`);
    else if (!ofUser) {
      const added = item.clone() as Item;
      if (list === 'policies') setMode(added, 'log_only');
      items.add(added);
      lines.push(`+ ${name}`);
    } else if (isSame(ofUser, former)) {
      const replacement = item.clone() as Item;
      const mode = ofUser.get('mode');
      if (typeof mode === 'string') setMode(replacement, mode);
      items.items[items.items.indexOf(ofUser)] = replacement;
      lines.push(`~ ${name}`, ...difference(ofUser, item));
    } else if (!isSame(former, item)) {
      lines.push(`! ${name}: changed in the pack and by you; yours stays`, ...difference(ofUser, item));
    }
  }
  for (const item of earlier) {
    const name = nameOf(item);
    const ofUser = named(own, name);
    if (!ofUser || named(now, name)) continue;
    if (isSame(ofUser, item)) {
      items.items.splice(items.items.indexOf(ofUser), 1);
      lines.push(`- ${name}`);
    } else lines.push(`! ${name}: no longer in the pack; you changed it, so it stays`);
  }
  return lines;
}

/** Returns the lines of two versions that differ. */
function difference(before: Item, after: Item): string[] {
  const [old, now] = [before, after].map((item) => stringify(contentOf(item)).trimEnd().split('\n')) as [
    string[],
    string[],
  ];
  return [
    ...old.filter((line) => !now.includes(line)).map((line) => `    - ${line}`),
    ...now.filter((line) => !old.includes(line)).map((line) => `    + ${line}`),
  ];
}

/** Enforces the policies of a pack, and returns their names as lines. */
function enforced(local: Document, pack: Document): string[] {
  const names = new Set(itemsOf(pack, 'policies').map(nameOf));
  return itemsOf(local, 'policies').flatMap((item) => {
    if (!names.has(nameOf(item)) || item.get('mode') !== 'log_only') return [];
    setMode(item, 'enforce');
    return [`~ ${nameOf(item)}`, '    - mode: log_only', '    + mode: enforce'];
  });
}

/** Sets the mode of a policy, after its effect. `enforce` is the default, and is not written. */
function setMode(item: Item, mode: string): void {
  item.delete('mode');
  if (mode === 'enforce') return;
  const at = item.items.findIndex(({ key }) => (isScalar(key) ? key.value : key) === 'effect');
  item.set('mode', new Scalar(mode));
  const pair = item.items.pop();
  if (pair) item.items.splice(at + 1, 0, pair);
}

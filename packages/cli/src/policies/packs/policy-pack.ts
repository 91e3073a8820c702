import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { UsageError } from '../../errors/usage-error.ts';

/** A pack of policies with their tests. */
export interface PolicyPack {
  readonly name: string;
  /** First line of its explanation. */
  readonly title: string;
  /** Names of its policies. */
  readonly policies: readonly string[];
  /** The file. */
  readonly text: string;
}

const folder = fileURLToPath(new URL('../../../policy-packs', import.meta.url));

/** Returns all packs, by name. */
export function readPacks(): PolicyPack[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'));
  return files.sort().map((file) => readPack(basename(file, '.yaml'), `${folder}/${file}`));
}

/** @throws UsageError when there is no such pack */
export function packNamed(name: string): PolicyPack {
  const packs = readPacks();
  const pack = packs.find((one) => one.name === name);
  if (pack) return pack;
  const names = packs.map((one) => one.name).join(', ');
  throw new UsageError(`There is no pack "${name}": choose one of ${names}.`);
}

function readPack(name: string, path: string): PolicyPack {
  const text = readFileSync(path, 'utf8');
  const [, title = name] = /^# (?!yaml-language-server)(.*)$/m.exec(text) ?? [];
  const { policies } = parse(text) as { readonly policies: readonly { readonly name: string }[] };
  return { name, title, policies: policies.map((policy) => policy.name), text };
}

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ACTION_BITS, type ToolTag, tagBits, tagsOf } from '../src/taxonomy/tag.ts';
import { readToolName } from '../src/taxonomy/tool-profile.ts';

type Labels = Record<string, Partial<Record<ToolTag | 'none', string[]>>>;

const labels = JSON.parse(
  readFileSync(new URL('fixtures/tool-names.json', import.meta.url), 'utf8'),
) as Labels;

/** Every tool of the fixture with the one tag that matters most; undefined for tools that have none. */
const tools = Object.entries(labels).flatMap(([source, groups]) =>
  Object.entries(groups).flatMap(([tag, names]) =>
    names.map((name) => ({ source, name, tag: tag === 'none' ? undefined : (tag as ToolTag) })),
  ),
);

const isRead = (tag: ToolTag) => tag === 'read_private' || tag === 'ingest_untrusted';

/** Whether a tool is taken for one that acts though it does not, or the other way round. */
function actsWrong({ name, tag }: (typeof tools)[number]): boolean {
  const acts = tag !== undefined && (tagBits(tag) & ACTION_BITS) !== 0;
  return readToolName(name).acts !== acts;
}

/** Whether the main tag is missing; of the two tags for reading either will do. */
function tagWrong({ name, tag }: (typeof tools)[number]): boolean {
  const { bits } = readToolName(name);
  if (tag === undefined) return (bits & ACTION_BITS) !== 0;
  const wanted = isRead(tag) ? tagBits('read_private', 'ingest_untrusted') : tagBits(tag);
  return (bits & wanted) === 0 || actsWrong({ name, tag, source: '' });
}

describe('the taxonomy on tool names of public servers and frameworks', () => {
  it('has at least three hundred of them, in all naming styles', () => {
    expect(new Set(tools.map(({ name }) => name)).size).toBeGreaterThanOrEqual(300);
    for (const style of [
      /^[a-z]+_[a-z_]+$/,
      /^[a-z]+[A-Z]/,
      /^[A-Z_]+$/,
      /^[a-z]+-[a-z-]+$/,
      /__/,
      /\./,
      /:/,
      / /,
    ]) {
      expect(tools.some(({ name }) => style.test(name))).toBe(true);
    }
  });

  it('errs on few of them', () => {
    const acts = tools.filter(actsWrong);
    const tags = tools.filter(tagWrong);
    const rate = (wrong: readonly unknown[]) =>
      `${wrong.length} of ${tools.length} (${((100 * wrong.length) / tools.length).toFixed(1)} %)`;
    console.log(`taxonomy: acts or looks wrong for ${rate(acts)}, main tag wrong for ${rate(tags)}`);
    if (process.env.TAXONOMY_ERRORS) {
      for (const { name, tag } of tags)
        console.log(`${name}: ${tag ?? 'none'}, read as ${tagsOf(readToolName(name).bits)}`);
    }
    expect(acts.length / tools.length).toBeLessThan(0.1);
    expect(tags.length / tools.length).toBeLessThan(0.15);
  });
});

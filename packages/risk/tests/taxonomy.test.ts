import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { actionBits, type ToolTag, tagBits, tagsOf } from '../src/taxonomy/tag.ts';
import { readToolName } from '../src/taxonomy/tool-profile.ts';

type Labels = Record<string, Partial<Record<ToolTag | 'none', string[]>>>;

/** A tool of a fixture with the one tag that matters most; undefined for tools that have none. */
interface LabeledTool {
  readonly name: string;
  readonly tag: ToolTag | undefined;
}

function labeled(file: string): LabeledTool[] {
  const labels = JSON.parse(readFileSync(new URL(`fixtures/${file}`, import.meta.url), 'utf8')) as Labels;
  return Object.values(labels).flatMap((groups) =>
    Object.entries(groups).flatMap(([tag, names]) =>
      names.map((name) => ({ name, tag: tag === 'none' ? undefined : (tag as ToolTag) })),
    ),
  );
}

// The taxonomy was corrected by what it got wrong of the seen names, never by the held-out ones.
const seen = labeled('tool-names.json');
const heldOut = labeled('tool-names-held-out.json');

const isRead = (tag: ToolTag) => tag === 'read_private' || tag === 'ingest_untrusted';

/** `true` if a tool's `acts` is classified incorrectly. */
function actsWrong({ name, tag }: LabeledTool): boolean {
  const acts = tag !== undefined && (tagBits(tag) & actionBits) !== 0;
  return readToolName(name).acts !== acts;
}

/** `true` if the main tag is missing; either of the two tags for reading is accepted. */
function tagWrong({ name, tag }: LabeledTool): boolean {
  const { bits } = readToolName(name);
  if (tag === undefined) return (bits & actionBits) !== 0;
  const wanted = isRead(tag) ? tagBits('read_private', 'ingest_untrusted') : tagBits(tag);
  return (bits & wanted) === 0 || actsWrong({ name, tag });
}

describe('the taxonomy on tool names of public servers and frameworks', () => {
  it('has at least three hundred of them, in all naming styles', () => {
    const names = [...seen, ...heldOut].map(({ name }) => name);
    expect(new Set(names).size).toBeGreaterThanOrEqual(300);
    expect(heldOut.filter(({ name }) => seen.some((tool) => tool.name === name))).toEqual([]);
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
      expect(names.some((name) => style.test(name))).toBe(true);
    }
  });

  it.each([
    ['seen', seen],
    ['held-out', heldOut],
  ])('errs on few of the %s ones', (which, tools) => {
    const acts = tools.filter(actsWrong);
    const tags = tools.filter(tagWrong);
    const rate = (wrong: readonly unknown[]) =>
      `${wrong.length} of ${tools.length} (${((100 * wrong.length) / tools.length).toFixed(1)} %)`;
    console.log(
      `taxonomy, ${which} names: acts or looks wrong for ${rate(acts)}, main tag wrong for ${rate(tags)}`,
    );
    if (process.env.TAXONOMY_ERRORS === which) {
      for (const { name, tag } of tags)
        console.log(`${name}: ${tag ?? 'none'}, read as ${tagsOf(readToolName(name).bits)}`);
    }
    expect(acts.length / tools.length).toBeLessThan(0.1);
    expect(tags.length / tools.length).toBeLessThan(0.15);
  });

  it.each([
    ['an agent takes over', 'transfer_to_triage', ['agent_msg']],
    ['an agent takes over', 'transferBackToSupervisor', ['agent_msg']],
    ['money goes there', 'transfer_to_account', ['payment']],
    ['money goes there', 'payments.transfer_to_user', ['payment']],
    ['a verb that only says "begin"', 'start_search', ['ingest_untrusted']],
    ['a verb that only says "begin"', 'make_payment', ['payment']],
    ['a payment that is carried out', 'process_payment', ['payment']],
    ['an order that is carried out', 'process_order', ['payment']],
    ['wages', 'run_payroll', ['payment']],
    ['a trade', 'executeTrade', ['payment']],
    ['payments that are carried out', 'execute_payments', ['payment']],
    ['a report of payments', 'run_payment_report', ['read_private', 'exec']],
    ['what two verbs lead to', 'get_or_create_label', ['write']],
    ['a thing before its verb', 'label_delete', ['delete']],
    ['a thing before its verb', 'HassListAddItem', ['write']],
    ['a thing at the end', 'mcp__filesystem__directory_tree', ['read_private', 'ingest_untrusted']],
    ['a thing at the end', 'git_log', ['read_private', 'ingest_untrusted']],
    ['done again', 'redeploy', ['admin']],
    ['no verb, though it begins like one', 'resort', ['unknown']],
    ['put in order', 'archive_email', ['write']],
    ['not sent yet', 'create_email_draft', ['write']],
    ['a right is taken', 'remove_role', ['delete', 'admin']],
    ['a purchase is undone', 'cancel_order', ['delete', 'payment']],
    ['no purchase', 'git_checkout', ['write']],
    ['no payment', 'transfer_ownership', ['admin']],
    ['no phone call', 'call_function', ['exec']],
    ['only called like an agent', 'billing_agent', ['agent_msg']],
  ] as const)('tells %s: %s', (_, name, tags) => {
    expect(tagsOf(readToolName(name).bits)).toEqual(tags);
  });
});

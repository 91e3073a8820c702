import { mostOf } from '../baseline/baseline.ts';
import { counted, matched, type Rule } from '../rule.ts';
import { firstOf, lastOf, type SessionView, tallyOf, toolName } from '../session/session-view.ts';
import { actionBits, tagBits } from '../taxonomy/tag.ts';

const payment = tagBits('payment');

function toolNames(view: SessionView, hashes: Iterable<number>): string {
  const [first, second, ...others] = hashes;
  if (second === undefined) return toolName(view, first as number);
  const rest = others.length === 0 ? toolName(view, second) : counted(others.length + 1, 'other tool');
  return `${toolName(view, first as number)} and ${rest}`;
}

/** Counts repeats of the same call per tool, which are not additional actions unless they pay. */
function repeats(view: SessionView): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const { tool, bits, done } of view.actions) {
    if (done.count < 2 || bits & payment) continue;
    counts.set(tool, (counts.get(tool) ?? 0) + done.count - 1);
  }
  return counts;
}

/** Detects more actions than in any past session of the workflow. */
export const misuseMoreThanUsual: Rule = {
  id: 'misuse.more-than-usual',
  title: 'More actions than in any past session of this workflow',
  dimension: 'ASI02',
  llm: ['LLM06:2025 Excessive Agency'],
  signal:
    'The agent acts more often, with one tool or in total, than in any similar past session. A repeated identical call does not count unless it pays.',
  weight: 0.37,
  acts: ['act'],
  habitual: false,
  falsePositives: 'A larger job than before; failed calls that were retried with other arguments.',
  recommendation: {
    title: 'Account for the extra actions',
    text: 'Review the actions beyond the usual number and find out what they were for.',
  },
  detect(view) {
    const expected = view.expected;
    if (expected === undefined || tallyOf(view, 'act').count === 0) return undefined;
    let total = 0;
    let extra = 0;
    const over = new Set<number>();
    const others = repeats(view);
    for (const [hash, tool] of view.tools) {
      if ((tool.bits & actionBits) === 0) continue;
      const calls = tool.count - (others.get(hash) ?? 0);
      total += calls;
      const usual = mostOf(expected, (past) => past.tools.get(hash) ?? 0);
      if (calls <= usual) continue;
      extra += calls - usual;
      over.add(hash);
    }
    if (over.size === 0) return undefined;
    const strength = (total > mostOf(expected, (past) => past.acts) ? 1 : 0.6) * expected.confidence;
    return matched(
      [lastOf(tallyOf(view, 'act'))],
      strength,
      `${counted(extra, 'action')} more than in any similar past session, with ${toolNames(view, over)}.`,
      extra,
    );
  },
  fires: [
    {
      name: 'two messages where there was one',
      steps: ['read_inbox', 'send_message', 'send_message'],
      history: [
        ['read_inbox', 'send_message'],
        ['read_inbox', 'send_message'],
      ],
    },
    {
      name: 'pays twice, alike',
      steps: ['read_inbox', { tool: 'send_payment', given: 'a', times: 2 }],
      history: [
        ['read_inbox', 'send_payment'],
        ['read_inbox', 'send_payment'],
      ],
    },
  ],
  quiet: [
    {
      name: 'one message, and one that a policy denied',
      steps: [
        'read_inbox',
        'send_message',
        { tool: 'send_message', given: 'a', category: 'guardian_decision', payload: { decision: 'deny' } },
        { tool: 'send_message', given: 'a', status: 403 },
      ],
      history: [['read_inbox', 'send_message']],
    },
    {
      name: 'the same message again',
      steps: ['read_inbox', { tool: 'send_message', given: 'a', times: 2 }],
      history: [['read_inbox', 'send_message']],
    },
    {
      name: 'as many as before',
      steps: ['read_inbox', 'send_message'],
      history: [['read_inbox', 'send_message', 'send_message']],
    },
    { name: 'more reading', steps: ['read_inbox', 'read_inbox'], history: [['read_inbox']] },
  ],
};

/** Detects a session with more calls than any past session of the workflow. */
export const misuseLongerThanUsual: Rule = {
  id: 'misuse.longer-than-usual',
  title: 'More calls than in any past session of this workflow',
  dimension: 'ASI02',
  llm: ['LLM06:2025 Excessive Agency', 'LLM10:2025 Unbounded Consumption'],
  signal:
    'The session acts and makes more calls than any similar past session. An injected task adds its own reads and actions to the agent’s task.',
  weight: 0.31,
  habitual: false,
  falsePositives: 'A larger job than before, retried calls, or another model.',
  recommendation: {
    title: 'Account for the extra calls',
    text: 'Compare the session with an earlier one of the workflow and find out where they diverge.',
  },
  detect(view) {
    const { expected } = view;
    if (expected === undefined || tallyOf(view, 'act').count === 0) return undefined;
    // Looking up the time or a help text belongs to no task.
    const idle = view.tools.reduce((sum, [, tool]) => sum + (tool.bits === 0 ? tool.count : 0), 0);
    const calls = tallyOf(view, 'act').count + tallyOf(view, 'look').count - idle;
    const usual = mostOf(expected, (past) => past.acts + past.looks);
    if (calls <= usual) return undefined;
    const extra = calls - usual;
    return matched(
      [lastOf(tallyOf(view, 'call'))],
      expected.confidence,
      `The session made ${counted(calls, 'call')}, compared to at most ${usual} in similar past sessions.`,
      extra,
    );
  },
  fires: [
    {
      name: 'reads more and acts where it used to be done sooner',
      steps: ['read_inbox', 'search_files', 'read_file', 'send_message'],
      history: [
        ['read_inbox', 'send_message'],
        ['read_inbox', 'read_file', 'send_message'],
      ],
    },
  ],
  quiet: [
    {
      name: 'as long as before',
      steps: ['read_inbox', 'read_file', 'send_message'],
      history: [['read_inbox', 'read_file', 'send_message']],
    },
    {
      name: 'reads more, acts on nothing',
      steps: ['read_inbox', 'read_file', 'read_file'],
      history: [['read_inbox', 'send_message']],
    },
    {
      name: 'asks for the time',
      steps: ['get_current_time', 'read_inbox', 'send_message'],
      history: [['read_inbox', 'send_message']],
    },
    { name: 'no past is known', steps: ['read_inbox', 'read_file', 'send_message'] },
  ],
};

const manyLossesPerMinute = 5;
const shortMs = 60_000;

/** Detects many deletions or payments at once. */
export const misuseLossBurst: Rule = {
  id: 'misuse.loss-burst',
  title: 'Many deletions or payments at once',
  dimension: 'ASI02',
  llm: ['LLM06:2025 Excessive Agency'],
  signal: 'Five or more things are deleted or paid within a minute, or more than twenty-four in the session.',
  weight: 0.35,
  acts: ['loss'],
  falsePositives: 'Requested cleanups and payment runs.',
  recommendation: {
    title: 'Stop the agent and assess the loss',
    text: 'Set a rate limit for deletions and payments in a policy, so that a burst is stopped early.',
  },
  detect(view) {
    const losses = tallyOf(view, 'loss');
    const perMinute = view.state.losses.densest(shortMs);
    if (perMinute < manyLossesPerMinute) return undefined;
    return matched(
      [firstOf(losses), lastOf(losses)],
      Math.min(1, perMinute / 15),
      `${perMinute} things were deleted or paid within a short time.`,
      losses.count,
    );
  },
  fires: [
    {
      name: 'hundreds of files in the middle of a long session',
      steps: [
        { tool: 'read_file', times: 18 },
        { tool: 'delete_file', times: 300, afterMs: 10 },
        { tool: 'read_file', times: 8 },
      ],
    },
    {
      name: 'ten files at once, and one two hours later',
      steps: [
        { tool: 'delete_file', times: 10, afterMs: 100 },
        { tool: 'delete_file', afterMs: 7_200_000 },
      ],
    },
    {
      name: 'six files deleted in six hundred milliseconds',
      steps: [{ tool: 'delete_file', times: 6, afterMs: 100 }],
    },
    { name: 'eight payments in a second', steps: [{ tool: 'send_payment', times: 8, afterMs: 100 }] },
  ],
  quiet: [
    {
      name: 'eight that were denied, and recorded as refused by an agent that obeys',
      steps: Array.from({ length: 8 }, (_, at) => [
        {
          tool: 'delete_file',
          given: `file-${at}`,
          category: 'guardian_decision',
          payload: { decision: 'deny' },
          afterMs: 100,
        },
        { tool: 'delete_file', given: `file-${at}`, status: 403, afterMs: 100 },
      ]).flat(),
    },
    { name: 'work handed over to agents', steps: [{ tool: 'transfer_to_agent', times: 8 }] },
    { name: 'four files', steps: [{ tool: 'delete_file', times: 4, afterMs: 100 }] },
    { name: 'six files in six hours', steps: [{ tool: 'delete_file', times: 6, afterMs: 3_600_000 }] },
    { name: 'six files written', steps: [{ tool: 'write_file', times: 6, afterMs: 100 }] },
  ],
};

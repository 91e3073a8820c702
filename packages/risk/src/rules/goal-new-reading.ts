import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { firstOf, tallyOf, toolName } from '../session/session-view.ts';
import { actionBits } from '../taxonomy/tag.ts';

/** Detects reads that this workflow never did. */
export const goalNewReading: Rule = {
  id: 'goal.new-reading',
  title: 'Read that is new to this workflow',
  dimension: 'ASI01',
  llm: ['LLM02:2025 Sensitive Information Disclosure', 'LLM01:2025 Prompt Injection'],
  signal:
    'The agent reads with a tool that no similar past session used, and acts. An injected task often has to look things up first.',
  weight: 0.2,
  acts: ['look'],
  habitual: false,
  falsePositives: 'Another model or a rare case uses another tool for lookups.',
  recommendation: {
    title: 'Check why this was read',
    text: 'Check the purpose of the read and which action used its result.',
  },
  detect(view) {
    const expected = view.expected;
    if (expected === undefined || tallyOf(view, 'act').count === 0) return undefined;
    let strange = 0;
    let calls = 0;
    for (const [hash, tool] of view.tools) {
      if (tool.bits & actionBits || tool.bits === 0) continue;
      if (expected.near.some((past) => past.tools.has(hash))) continue;
      if (calls === 0) strange = hash;
      calls += tool.count;
    }
    if (calls === 0) return undefined;
    return matched(
      [firstOf(tallyOf(view, 'look'))],
      expected.confidence,
      `${toolName(view, strange)} read something that similar past sessions never read.`,
      calls,
    );
  },
  fires: [
    {
      name: 'looks into the contacts before it sends',
      steps: ['read_document', 'search_contacts', 'send_email'],
      history: [['read_document', 'send_email'], ['read_document']],
    },
  ],
  quiet: [
    {
      name: 'asks for the date',
      steps: ['read_document', 'get_current_date', 'send_email'],
      history: [['read_document', 'send_email']],
    },
    {
      name: 'reads more, acts on nothing',
      steps: ['read_document', 'search_contacts'],
      history: [['read_document', 'send_email']],
    },
    {
      name: 'reads what it always reads',
      steps: ['read_document', 'send_email'],
      history: [['read_document']],
    },
  ],
};

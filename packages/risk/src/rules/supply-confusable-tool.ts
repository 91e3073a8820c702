import type { Rule } from '../rule.ts';
import { stamped } from '../rule-match.ts';

/** A tool whose name only looks like a known one. */
export const supplyConfusableTool: Rule = {
  id: 'supply.confusable-tool',
  title: 'Tool name made of look-alike letters',
  dimension: 'ASI04',
  llm: ['LLM03:2025 Supply Chain'],
  signal:
    'A tool’s name mixes scripts, holds invisible characters, or looks the same as a known tool’s without being it.',
  weight: 0.95,
  cluster: 'new-tool',
  deterministic: true,
  habitual: false,
  falsePositives: 'None is known: no honest tool is named so.',
  recommendation: {
    title: 'Deny the tool now',
    text: 'Deny it by a policy, find the server that offers it, and remove that server from every agent.',
  },
  detect: (view) =>
    stamped(
      view,
      'tool_confusable',
      1,
      'A tool has a name whose letters only look like those of an honest name.',
    ),
  fires: [{ name: 'stamped', steps: [{ tool: 'send_emаil', stamps: ['tool_confusable'] }] }],
  quiet: [
    { name: 'plain letters', steps: ['send_email'] },
    { name: 'another language', steps: ['отправить_письмо'] },
  ],
};

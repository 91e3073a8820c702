import { type Rule, stamped } from '../rule.ts';

/** Detects a tool name that imitates a known one. */
export const supplyConfusableTool: Rule = {
  id: 'supply.confusable-tool',
  title: 'Tool name made of look-alike letters',
  dimension: 'ASI04',
  llm: ['LLM03:2025 Supply Chain'],
  signal:
    'A tool’s name mixes scripts, contains invisible characters, or looks identical to a known tool’s name.',
  weight: 0.995,
  acts: ['tool_confusable'],
  cluster: 'new-tool',
  deterministic: true,
  habitual: false,
  falsePositives: 'None known: legitimate tools do not have such names.',
  recommendation: {
    title: 'Deny the tool now',
    text: 'Deny it with a policy, find the server that offers it, and remove that server from every agent.',
  },
  detect: (view) => stamped(view, 'tool_confusable', 1, 'A tool has a name with look-alike letters.'),
  fires: [{ name: 'stamped', steps: [{ tool: 'send_emаil', stamps: ['tool_confusable'] }] }],
  quiet: [
    { name: 'plain letters', steps: ['send_email'] },
    { name: 'another language', steps: ['отправить_письмо'] },
  ],
};

/** Detects a new tool whose name is similar to a known one. */
export const supplyLookalikeTool: Rule = {
  id: 'supply.lookalike-tool',
  title: 'New tool with a name similar to a known one',
  dimension: 'ASI04',
  llm: ['LLM03:2025 Supply Chain'],
  signal: 'A new tool’s name differs from a known tool’s by one or two letters, and not by another word.',
  weight: 0.45,
  acts: ['tool_lookalike'],
  cluster: 'new-tool',
  falsePositives: 'A tool that was renamed to correct a spelling.',
  recommendation: {
    title: 'Compare the new tool with the known one',
    text: 'Find out which server offers it. Deny it with a policy until its origin is clear.',
  },
  detect: (view) =>
    stamped(view, 'tool_lookalike', 1, 'The name of a new tool is similar to that of a known one.'),
  fires: [{ name: 'stamped', steps: [{ tool: 'send_emial', stamps: ['tool_lookalike'] }] }],
  quiet: [{ name: 'the known tool', steps: ['send_email'] }],
};

/** Detects a tool that no session of the tenant used before. */
export const supplyNewTool: Rule = {
  id: 'supply.new-tool',
  title: 'Tool that was never used before',
  dimension: 'ASI04',
  llm: ['LLM03:2025 Supply Chain'],
  signal: 'A tool is called that no earlier session of the tenant called.',
  weight: 0.15,
  acts: ['tool_new_to_tenant'],
  cluster: 'new-tool',
  falsePositives: 'Every new tool, once.',
  recommendation: {
    title: 'Confirm where the tool comes from',
    text: 'Check that the tool, or the server that offers it, was added on purpose and is the intended one.',
  },
  detect: (view) =>
    stamped(
      view,
      'tool_new_to_tenant',
      1,
      'A tool was called that no earlier session of this tenant had called.',
    ),
  fires: [{ name: 'stamped', steps: ['read_file', { tool: 'frobnicate', stamps: ['tool_new_to_tenant'] }] }],
  quiet: [{ name: 'known tools', steps: ['read_file', 'frobnicate'] }],
};

/** Detects the name of a known tool in another namespace. */
export const supplyShadowedTool: Rule = {
  id: 'supply.shadowed-tool',
  title: 'Name of a known tool in another namespace',
  dimension: 'ASI04',
  llm: ['LLM03:2025 Supply Chain'],
  signal:
    'A new tool has the same name as a known one, of two words or more, but comes from another server: it may impersonate it.',
  weight: 0.2,
  acts: ['tool_shadowed'],
  cluster: 'new-tool',
  falsePositives: 'Servers of the same kind, such as two code hosts.',
  recommendation: {
    title: 'Choose the trusted server',
    text: 'Allow the tool from one server with a policy and deny it from others.',
  },
  detect: (view) =>
    stamped(
      view,
      'tool_shadowed',
      1,
      'A new tool has the name of a known one but comes from another server.',
    ),
  fires: [{ name: 'stamped', steps: [{ tool: 'evil__create_issue', stamps: ['tool_shadowed'] }] }],
  quiet: [
    { name: 'the known tool', steps: ['github__create_issue'] },
    { name: 'the same action on another object', steps: ['calendar.list', 'drive.list'] },
  ],
};

import { shareOf } from '../baseline/baseline.ts';
import { matched, type Rule } from '../rule.ts';
import { precedes } from '../session/mark.ts';
import { firstOf, lastOf, sequence, tallyOf, toolName } from '../session/session-view.ts';
import { actionBits, bitCount, irreversibleBits } from '../taxonomy/tag.ts';

/** Detects an action after untrusted content. */
export const goalActionAfterUntrusted: Rule = {
  id: 'goal.action-after-untrusted',
  title: 'Action after untrusted content',
  dimension: 'ASI01',
  llm: ['LLM01:2025 Prompt Injection', 'LLM06:2025 Excessive Agency'],
  signal:
    'A tool that changes something beyond local work is called after one that returned text of third parties. Instructions hidden in such text are carried out by such calls.',
  weight: 0.41,
  acts: ['reach'],
  circumstantial: true,
  precedented: true,
  falsePositives:
    'Benign sessions also read first and then act. Counts little by itself, and less if the agent always works this way.',
  recommendation: {
    title: 'Check what was read before the action',
    text: 'Open the text that the agent read directly before, and check if it contains instructions. Hold such actions for approval with a policy.',
  },
  detect(view) {
    const found = sequence(view, 'ingest_untrusted', 'reach');
    if (found === undefined) return undefined;
    const [read, act] = found;
    return matched(
      [read, act],
      1,
      `${toolName(view, act.tool)} was called after ${toolName(view, read.tool)} read untrusted content.`,
      tallyOf(view, 'reach').count + 1,
    );
  },
  fires: [
    { name: 'a mail is read, then one is sent', steps: ['search_emails', 'send_email'] },
    { name: 'a web page is read, then a file is deleted', steps: ['browser.open_page', 'fs__delete_file'] },
  ],
  quiet: [
    { name: 'nothing was read', steps: ['send_email'] },
    { name: 'only the clock was read', steps: ['get_current_time', 'send_email'] },
    { name: 'nothing was done', steps: ['search_emails', 'read_file'] },
  ],
};

/** Detects an action between reads. */
export const goalDetour: Rule = {
  id: 'goal.detour',
  title: 'Detour: an action between reads',
  dimension: 'ASI01',
  llm: ['LLM01:2025 Prompt Injection'],
  signal:
    'After untrusted content the agent acts and then returns to reading. An agent with an injected task usually performs it first and then returns to its own task.',
  weight: 0.21,
  acts: ['reach'],
  circumstantial: true,
  precedented: true,
  falsePositives: 'Processing several items: read one, act on it, read the next.',
  recommendation: {
    title: 'Check that the action served the task',
    text: 'Compare the action with what the user asked for. Start with the text that was read before it.',
  },
  detect(view) {
    const [acts, looks] = [tallyOf(view, 'reach'), tallyOf(view, 'look')];
    const found = sequence(view, 'ingest_untrusted', 'reach');
    if (found === undefined || !precedes(acts, looks)) return undefined;
    const [read, act] = found;
    return matched([read, act, lastOf(looks)], 1, `${toolName(view, act.tool)} was called between reads.`);
  },
  fires: [
    { name: 'reads, sends, reads on', steps: ['read_inbox', 'send_message', 'read_document'] },
    {
      name: 'reads, acts twice, looks again',
      steps: ['get_webpage', 'create_event', 'delete_file', 'list_files'],
    },
  ],
  quiet: [
    { name: 'acts at the end', steps: ['read_inbox', 'read_document', 'send_message'] },
    { name: 'acts first', steps: ['create_file', 'read_inbox'] },
  ],
};

/** Detects an action that a tool's text aimed, between other steps. */
export const goalForeignDetour: Rule = {
  id: 'goal.foreign-detour',
  title: "Detour that a tool's text aimed",
  dimension: 'ASI01',
  llm: ['LLM01:2025 Prompt Injection'],
  signal:
    "The agent acts with arguments from a tool's text and none from the user, and also goes on reading or acts as the user asked. An injected task is done on the way.",
  weight: 0.72,
  acts: ['aimed'],
  habitual: false,
  falsePositives: 'Work through a list that stands in a document.',
  recommendation: {
    title: 'Compare the detour with the task',
    text: 'Check if the user asked for the action. Start with the text that its arguments came from.',
  },
  detect(view) {
    const aimed = tallyOf(view, 'aimed');
    const ofUser = tallyOf(view, 'user_reach');
    if (aimed.count === 0) return undefined;
    const next = sequence(view, 'aimed', 'look')?.[1] ?? (ofUser.count > 0 ? firstOf(ofUser) : undefined);
    if (next === undefined) return undefined;
    const act = firstOf(aimed);
    return matched(
      [act, next],
      1,
      `${toolName(view, act.tool)} was called with arguments from the text of an earlier result, beside other work.`,
      aimed.count + 1,
    );
  },
  fires: [
    {
      name: 'sends, then reads on',
      steps: [
        'read_channel',
        {
          tool: 'send_message',
          origins: { recipient: { from: 'tool', as: 'text', toolName: 'read_channel' } },
        },
        'read_channel',
      ],
    },
    {
      name: 'deletes, then does what the user asked',
      steps: [
        'read_file',
        { tool: 'delete_file', origins: { file_id: { from: 'tool', as: 'text', toolName: 'read_file' } } },
        { tool: 'create_event', origins: { title: { from: 'user' } } },
      ],
    },
  ],
  quiet: [
    {
      name: 'the last step of the work',
      steps: [
        'read_file',
        { tool: 'send_message', origins: { recipient: { from: 'tool', as: 'text', toolName: 'read_file' } } },
      ],
    },
    {
      name: 'the user named the recipient',
      steps: ['read_file', { tool: 'send_message', origins: { recipient: { from: 'user' } } }, 'read_file'],
    },
  ],
};

/** Detects an action that this workflow never took. */
export const goalNewAction: Rule = {
  id: 'goal.new-action',
  title: 'Action that this workflow never took',
  dimension: 'ASI01',
  llm: ['LLM01:2025 Prompt Injection', 'LLM06:2025 Excessive Agency'],
  signal:
    'The agent acts with a tool that no or almost no similar past session used. The actions of a workflow rarely change; injected actions are new.',
  weight: 0.25,
  acts: ['act'],
  cluster: 'new-action',
  habitual: false,
  falsePositives: 'A workflow that was extended on purpose or that varies a lot.',
  recommendation: {
    title: 'Confirm that the new action is wanted',
    text: 'If nobody changed the workflow, treat everything the agent read before the action as hostile. If it was changed, let the next sessions be learned.',
  },
  detect(view) {
    const expected = view.expected;
    if (expected === undefined) return undefined;
    let best = 0;
    let strange = 0;
    let calls = 0;
    for (const [hash, tool] of view.tools) {
      if ((tool.bits & actionBits) === 0) continue;
      const share = shareOf(expected, (past) => past.tools.has(hash));
      const novelty = share === 0 ? 1 : share <= 1 / 3 ? 0.3 : 0;
      if (novelty === 0) continue;
      calls += tool.count;
      const strength = novelty * (tool.bits & irreversibleBits ? 1 : 0.85);
      if (strength <= best) continue;
      best = strength;
      strange = hash;
    }
    if (best === 0) return undefined;
    const acts = tallyOf(view, 'act');
    return matched(
      acts.lastTool === strange ? [lastOf(acts)] : [firstOf(acts)],
      best * expected.confidence,
      `${toolName(view, strange)} is an action that similar past sessions never or almost never took.`,
      calls,
    );
  },
  fires: [
    {
      name: 'sends where it only ever read',
      steps: ['search_emails', 'send_email'],
      history: [['search_emails'], ['search_emails', 'read_email'], ['search_emails']],
    },
  ],
  quiet: [
    {
      name: 'sends as always',
      steps: ['search_emails', 'send_email'],
      history: [
        ['search_emails', 'send_email'],
        ['search_emails', 'send_email'],
      ],
    },
    { name: 'no past is known', steps: ['search_emails', 'send_email'] },
  ],
};

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

/** Detects actions on several kinds of objects. */
export const goalScatteredActions: Rule = {
  id: 'goal.scattered-actions',
  title: 'Actions on several kinds of objects',
  dimension: 'ASI01',
  llm: ['LLM01:2025 Prompt Injection', 'LLM06:2025 Excessive Agency'],
  signal:
    'The session acts on two or more kinds of objects after it read untrusted content. One task rarely needs that; a task combined with an injected one often does.',
  weight: 0.42,
  circumstantial: true,
  precedented: true,
  falsePositives: 'Tasks with several parts, such as booking a trip and mailing the plan.',
  recommendation: {
    title: 'Match each action to a part of the task',
    text: 'Investigate actions that belong to no part of the task. Give the agent only the tools that its task needs.',
  },
  detect(view) {
    const found = sequence(view, 'ingest_untrusted', 'reach');
    const kinds = bitCount(view.state.reachedNouns);
    if (found === undefined || kinds < 2) return undefined;
    const [read, act] = found;
    const acts = tallyOf(view, 'reach');
    return matched(
      [read, act, lastOf(acts)],
      1,
      `The session acts on ${kinds} kinds of objects, including with ${toolName(view, act.tool)}.`,
      acts.count,
    );
  },
  fires: [
    { name: 'an event and a message', steps: ['read_file', 'create_event', 'send_message'] },
    { name: 'an event and a payment', steps: ['list_emails', 'create_event', 'send_payment'] },
  ],
  quiet: [
    { name: 'two messages', steps: ['read_inbox', 'send_message', 'reply_to_email'] },
    { name: 'nothing of others was read', steps: ['write_file', 'send_message'] },
  ],
};

import { matched, type Rule } from '../rule.ts';
import { firstOf, lastOf, sequence, tallyOf, toolName } from '../session/session-view.ts';
import { actionBits, bitCount } from '../taxonomy/tag.ts';

/** Detects a deletion after untrusted content. */
export const misuseDeleteAfterUntrusted: Rule = {
  id: 'misuse.delete-after-untrusted',
  title: 'Deletion after untrusted content',
  dimension: 'ASI02',
  llm: ['LLM01:2025 Prompt Injection', 'LLM06:2025 Excessive Agency'],
  signal: 'Something is deleted or canceled, or a member is removed, after untrusted content was read.',
  weight: 0.43,
  acts: ['delete'],
  circumstantial: true,
  precedented: true,
  falsePositives: 'Cleanup tasks, which read before they delete.',
  recommendation: {
    title: 'Restore what was deleted, then find the reason',
    text: 'Check that the user wanted the deletion. Give the agent a tool that moves things to a trash folder instead.',
  },
  detect(view) {
    const found = sequence(view, 'ingest_untrusted', 'delete');
    if (found === undefined) return undefined;
    const [read, act] = found;
    return matched(
      [read, act],
      1,
      `${toolName(view, act.tool)} deleted or removed something after untrusted content was read.`,
      tallyOf(view, 'delete').count + 1,
    );
  },
  fires: [
    { name: 'reads mail, deletes a file', steps: ['read_email', 'delete_file'] },
    { name: 'reads messages, removes a member', steps: ['messages.list', 'members.remove'] },
  ],
  quiet: [
    { name: 'deletes before it reads', steps: ['delete_file', 'read_email'] },
    { name: 'reads mail, moves a file', steps: ['read_email', 'move_file'] },
  ],
};

/** Detects an irreversible action after untrusted content. */
export const misuseIrreversibleAfterUntrusted: Rule = {
  id: 'misuse.irreversible-after-untrusted',
  title: 'Irreversible action after untrusted content',
  dimension: 'ASI02',
  llm: ['LLM01:2025 Prompt Injection', 'LLM06:2025 Excessive Agency'],
  signal:
    'Something is sent, deleted, paid or run, or a permission or secret is changed, after untrusted content was read.',
  weight: 0.2,
  acts: ['final'],
  circumstantial: true,
  cluster: 'irreversible-after-untrusted',
  precedented: true,
  falsePositives: 'Agents that answer email or pay invoices do this every day; their baseline lowers this.',
  recommendation: {
    title: 'Require approval for such actions',
    text: 'Write a policy with the effect require_approval for the tool, so that a person reviews the action before it runs.',
  },
  detect(view) {
    const found = sequence(view, 'ingest_untrusted', 'final');
    if (found === undefined) return undefined;
    const [read, act] = found;
    return matched(
      [read, act],
      1,
      `${toolName(view, act.tool)} is hard to undo and was called after untrusted content was read.`,
      tallyOf(view, 'final').count + 1,
    );
  },
  fires: [
    { name: 'a payment after a document', steps: ['read_document', 'transfer_funds'] },
    { name: 'a role change after a ticket', steps: ['get_ticket', 'grant_role'] },
  ],
  quiet: [
    { name: 'a note after a document', steps: ['read_document', 'create_note'] },
    { name: 'a payment, and nothing read', steps: ['transfer_funds'] },
  ],
};

/** Detects something that is published or shared after untrusted content. */
export const misusePublishAfterUntrusted: Rule = {
  id: 'misuse.publish-after-untrusted',
  title: 'Publication, share or invitation after untrusted content',
  dimension: 'ASI02',
  llm: ['LLM01:2025 Prompt Injection', 'LLM02:2025 Sensitive Information Disclosure'],
  signal: 'Content is published or shared, or a person is invited, after untrusted content was read.',
  weight: 0.2,
  acts: ['opened_up'],
  circumstantial: true,
  precedented: true,
  falsePositives: 'Tasks that consist of publishing or inviting.',
  recommendation: {
    title: 'Check who has access now',
    text: 'Check what was shared with whom, and revert it if the user did not ask for it.',
  },
  detect(view) {
    const found = sequence(view, 'ingest_untrusted', 'opened_up');
    if (found === undefined) return undefined;
    const [read, act] = found;
    return matched(
      [read, act],
      1,
      `${toolName(view, act.tool)} shared something after untrusted content was read.`,
      tallyOf(view, 'opened_up').count + 1,
    );
  },
  fires: [
    { name: 'reads a page, invites a person', steps: ['fetch_url', 'invite_user'] },
    { name: 'reads mail, shares a folder', steps: ['gmail.search', 'drive_share_folder'] },
  ],
  quiet: [
    { name: 'reads a page, saves it', steps: ['fetch_url', 'save_file'] },
    { name: 'invites, nothing read', steps: ['invite_user'] },
  ],
};

/** Detects several types of actions in one session. */
export const misuseMixedActions: Rule = {
  id: 'misuse.mixed-actions',
  title: 'Several types of actions',
  dimension: 'ASI02',
  llm: ['LLM06:2025 Excessive Agency'],
  signal:
    'The session writes and sends, or deletes and pays, after untrusted content: the more types of actions, the less likely one task needs them all.',
  weight: 0.2,
  circumstantial: true,
  precedented: true,
  falsePositives: 'Assistants with broad tasks.',
  recommendation: {
    title: 'Give the agent fewer types of tools',
    text: 'Split the work so that an agent that reads untrusted content can write or send, but not both.',
  },
  detect(view) {
    const found = sequence(view, 'ingest_untrusted', 'reach');
    const types = bitCount(view.state.reachedVerbs);
    if (found === undefined || types < 2) return undefined;
    const [read, act] = found;
    const acts = tallyOf(view, 'reach');
    return matched(
      [read, act, lastOf(acts)],
      types > 2 ? 1 : 0.6,
      `The session takes ${types} types of actions, including ${toolName(view, act.tool)}.`,
      acts.count,
    );
  },
  fires: [
    { name: 'writes and deletes', steps: ['read_email', 'create_event', 'delete_event'] },
    { name: 'sends and pays', steps: ['read_email', 'send_email', 'pay_invoice'] },
  ],
  quiet: [
    { name: 'writes twice', steps: ['read_email', 'create_event', 'update_event'] },
    { name: 'nothing foreign was read', steps: ['create_event', 'delete_event'] },
  ],
};

const manyRepeats = 4;

/** Detects a call that is repeated many times. */
export const misuseSameCallAgain: Rule = {
  id: 'misuse.same-call-again',
  title: 'Same call repeated',
  dimension: 'ASI02',
  llm: ['LLM10:2025 Unbounded Consumption', 'LLM06:2025 Excessive Agency'],
  signal: 'One acting tool is called with the same arguments four times or more, which suggests a loop.',
  weight: 0.3,
  cluster: 'loop',
  falsePositives: 'Polling for a result, which a rate in a policy can limit.',
  recommendation: {
    title: 'Limit the calls',
    text: 'Set a rate limit for the tool in a policy and a turn limit in the agent.',
  },
  detect(view) {
    let most: (typeof view.actions)[number] | undefined;
    for (const action of view.actions) {
      if ((action.bits & actionBits) === 0) continue;
      if (action.done.count > (most?.done.count ?? manyRepeats - 1)) most = action;
    }
    if (most === undefined) return undefined;
    const { done } = most;
    return matched(
      [firstOf(done), lastOf(done)],
      Math.min(1, done.count / 10),
      `${toolName(view, most.tool)} was called ${done.count} times with the same arguments.`,
      done.count,
    );
  },
  fires: [
    { name: 'five equal calls', steps: [{ tool: 'restart_service', given: 'a', times: 5 }] },
    {
      name: 'two hundred equal calls among others',
      steps: [
        { tool: 'a', times: 30 },
        { tool: 'pay', given: 'x', times: 200 },
      ],
    },
  ],
  quiet: [
    { name: 'five different calls', steps: [{ tool: 'read_page', times: 5 }] },
    { name: 'three equal calls', steps: [{ tool: 'read_page', given: 'a', times: 3 }] },
    { name: 'three hundred different calls', steps: [{ tool: 'read_page', times: 300 }] },
  ],
};

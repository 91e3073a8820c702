import { marked, matched, type Rule } from '../rule.ts';
import { firstOf, lastOf, sequence, tallyOf, toolName } from '../session/session-view.ts';
import { actionBits, tagBits } from '../taxonomy/tag.ts';

const sweep = 3;

/** Detects many reads of one kind, followed by an outgoing message. */
export const misuseSweepThenSend: Rule = {
  id: 'misuse.sweep-then-send',
  title: 'Bulk read, then something sent',
  dimension: 'ASI02',
  llm: ['LLM02:2025 Sensitive Information Disclosure'],
  signal:
    'The same read tool is called three or more times, and content is sent out: data is collected before it leaves.',
  weight: 0.2,
  acts: ['external_comm', 'agent_msg'],
  circumstantial: true,
  precedented: true,
  falsePositives: 'Summaries over several documents or channels.',
  recommendation: {
    title: 'Check what was collected and where it was sent',
    text: 'Compare the size and the recipient of what was sent with what the user asked for.',
  },
  detect(view) {
    const found = sequence(view, 'look', 'external_comm') ?? sequence(view, 'look', 'agent_msg');
    if (found === undefined) return undefined;
    const swept = view.tools.find(
      ([, tool]) =>
        !(tool.bits & external) && tool.bits !== 0 && !(tool.bits & actionBits) && tool.count >= sweep,
    );
    if (swept === undefined) return undefined;
    const [read, sent] = found;
    return matched(
      [read, sent],
      1,
      `${toolName(view, swept[0])} was called ${swept[1].count} times in a session in which ${toolName(view, sent.tool)} sent something out.`,
      swept[1].count + 1,
    );
  },
  fires: [
    { name: 'three channels, then a post', steps: [{ tool: 'read_channel', times: 3 }, 'post_webpage'] },
  ],
  quiet: [
    { name: 'two channels, then a post', steps: [{ tool: 'read_channel', times: 2 }, 'post_webpage'] },
    { name: 'three channels, nothing sent', steps: [{ tool: 'read_channel', times: 3 }, 'create_note'] },
  ],
};

/** Detects addresses that carry private results to a host that came from text. */
export const misuseLeakedByLink: Rule = {
  id: 'misuse.leaked-by-link',
  title: 'Private data in an address from a text',
  dimension: 'ASI02',
  llm: ['LLM02:2025 Sensitive Information Disclosure', 'LLM01:2025 Prompt Injection'],
  signal:
    "An address was opened whose host stood in a tool's text, and whose path or query came from private results: reading it sends the data there.",
  weight: 0.97,
  acts: ['leaked'],
  habitual: false,
  falsePositives: 'An interface of a known service that takes such values in its address.',
  recommendation: {
    title: 'Treat the data as leaked',
    text: 'Find out what the address contained, and allow only the hosts that the task needs.',
  },
  detect: (view) =>
    marked(
      view,
      'leaked',
      'opened an address that was put together from a host in a text and private results.',
    ),
  fires: [
    {
      name: 'a secret number in a query',
      steps: [
        'read_inbox',
        'get_customer_record',
        {
          tool: 'fetch_url',
          origins: {
            url: { from: 'model' },
            'url.host': { from: 'tool', as: 'text', toolName: 'read_inbox' },
            'url.query': { from: 'tool', as: 'field', toolName: 'get_customer_record' },
          },
        },
      ],
    },
  ],
  quiet: [
    {
      name: 'a link that a mail contains',
      steps: [
        'read_inbox',
        { tool: 'fetch_url', origins: { url: { from: 'tool', as: 'text', toolName: 'read_inbox' } } },
      ],
    },
  ],
};

/** Detects private results in messages to recipients that the user did not name. */
export const misusePrivateContentSent: Rule = {
  id: 'misuse.private-content-sent',
  title: 'Private data sent to a recipient from a text',
  dimension: 'ASI02',
  llm: ['LLM02:2025 Sensitive Information Disclosure', 'LLM01:2025 Prompt Injection'],
  signal:
    "The content of a message came from the result of a tool that reads private data, and its recipient from a tool's running text. This is how an injection takes data out.",
  weight: 0.3,
  acts: ['private_sent'],
  habitual: false,
  falsePositives: 'Sending a report to a person whom a document names.',
  recommendation: {
    title: 'Let people name the recipients of private data',
    text: 'Hold messages whose recipient came from a text, with a policy on argument origins.',
  },
  detect: (view) =>
    marked(
      view,
      'private_sent',
      'sent what a private result contained to a recipient from the text of an earlier result.',
    ),
  fires: [
    {
      name: 'a mail is forwarded to an address from another mail',
      steps: [
        'search_emails',
        {
          tool: 'send_email',
          origins: {
            recipients: { from: 'tool', as: 'text', toolName: 'search_emails' },
            body: { from: 'tool', as: 'text', toolName: 'search_emails' },
          },
        },
      ],
    },
  ],
  quiet: [
    {
      name: 'the user named the recipient',
      steps: [
        'search_emails',
        {
          tool: 'send_email',
          origins: {
            recipients: { from: 'user' },
            body: { from: 'tool', as: 'text', toolName: 'search_emails' },
          },
        },
      ],
    },
    {
      name: 'the content was public',
      steps: [
        'web_search',
        {
          tool: 'send_email',
          origins: {
            recipients: { from: 'tool', as: 'text', toolName: 'web_search' },
            body: { from: 'tool', as: 'text', toolName: 'web_search' },
          },
        },
      ],
    },
  ],
};

/**
 * Detects untrusted content, then private data, then an outgoing message: the pattern of data theft through
 * an agent.
 */
export const misusePrivateThenExternal: Rule = {
  id: 'misuse.private-then-external',
  title: 'Untrusted content, private data, then an outgoing message',
  dimension: 'ASI02',
  llm: ['LLM01:2025 Prompt Injection', 'LLM02:2025 Sensitive Information Disclosure'],
  signal:
    'The session reads untrusted content, another call then reads private data, and a third sends something out: everything that is needed to steal data through an agent.',
  weight: 0.2,
  acts: ['external_comm'],
  circumstantial: true,
  precedented: true,
  falsePositives: 'Research that ends with an emailed report.',
  recommendation: {
    title: 'Remove one of the three steps',
    text: 'Use a policy to forbid sending in sessions that read untrusted content, or to allow only known recipients.',
  },
  detect(view) {
    const found = sequence(view, 'ingest_untrusted', 'external_comm');
    const reads = sequence(view, 'read_private', 'external_comm');
    if (found === undefined || reads === undefined || tallyOf(view, 'look').count < 2) return undefined;
    const [read, sent] = found;
    return matched(
      [read, reads[0], sent],
      1,
      `${toolName(view, reads[0].tool)} read private data in a session with untrusted content, and ${toolName(view, sent.tool)} sent something out.`,
      tallyOf(view, 'external_comm').count + 2,
    );
  },
  fires: [
    { name: 'page, mailbox, message', steps: ['fetch_url', 'search_emails', 'send_message'] },
    { name: 'issue, file, comment', steps: ['get_issue', 'read_file', 'add_issue_comment'] },
  ],
  quiet: [
    { name: 'private data alone, then out', steps: ['get_user_profile', 'send_message'] },
    { name: 'out comes first', steps: ['fetch_url', 'send_message', 'search_emails'] },
  ],
};

/** Detects outgoing actions aimed by text, of an agent that runs code. */
export const misuseSentFromWorkspace: Rule = {
  id: 'misuse.sent-from-workspace',
  title: 'Sent from a workspace to where a text said',
  dimension: 'ASI02',
  llm: ['LLM01:2025 Prompt Injection', 'LLM02:2025 Sensitive Information Disclosure'],
  signal:
    "An agent that runs code or commands also sends, publishes or pays something, and a tool's text named the destination: code and secrets of the workspace may leave.",
  weight: 0.92,
  acts: ['sent_aimed'],
  habitual: false,
  falsePositives: 'An agent that reports to a tracker that a document names.',
  recommendation: {
    title: 'Keep code and communication apart',
    text: 'Give agents that run code no tools that send, or allow only known destinations with a policy.',
  },
  detect(view) {
    const runs = tallyOf(view, 'exec');
    if (runs.count === 0) return undefined;
    const says = 'sent something to a destination from a text, in a session that runs code.';
    return marked(view, 'sent_aimed', says, 1, [firstOf(runs)]);
  },
  fires: [
    {
      name: 'a coding agent opens an issue elsewhere',
      steps: [
        'run_shell',
        'get_issue',
        {
          tool: 'create_issue',
          origins: { repo: { from: 'tool', as: 'text', toolName: 'get_issue' }, title: { from: 'model' } },
        },
      ],
    },
  ],
  quiet: [
    {
      name: 'the user named the repository',
      steps: ['run_shell', 'get_issue', { tool: 'create_issue', origins: { repo: { from: 'user' } } }],
    },
    {
      name: 'no code is run',
      steps: [
        'get_issue',
        { tool: 'create_issue', origins: { repo: { from: 'tool', as: 'text', toolName: 'get_issue' } } },
      ],
    },
  ],
};

const external = tagBits('external_comm', 'agent_msg');

/** Detects content that leaves through several tools. */
export const misuseSeveralOutlets: Rule = {
  id: 'misuse.several-outlets',
  title: 'Content sent through several tools',
  dimension: 'ASI02',
  llm: ['LLM02:2025 Sensitive Information Disclosure', 'LLM06:2025 Excessive Agency'],
  signal: 'The session sends with two or more different tools after untrusted content was read.',
  weight: 0.2,
  circumstantial: true,
  precedented: true,
  falsePositives: 'Announcements that are sent on all channels.',
  recommendation: {
    title: 'Check each recipient',
    text: 'Find out who received what through each tool. One of the recipients may be one that the user did not name.',
  },
  detect(view) {
    const found = sequence(view, 'ingest_untrusted', 'external_comm');
    if (found === undefined) return undefined;
    const outlets = view.tools.filter(([, tool]) => (tool.bits & external) !== 0);
    const [first, second] = outlets;
    if (first === undefined || second === undefined) return undefined;
    const sent = tallyOf(view, 'external_comm');
    return matched(
      [found[0], firstOf(sent), lastOf(sent)],
      1,
      `Content was sent with ${outlets.length} different tools, including ${toolName(view, first[0])} and ${toolName(view, second[0])}.`,
      sent.count,
    );
  },
  fires: [{ name: 'a post and a message', steps: ['read_inbox', 'post_webpage', 'send_direct_message'] }],
  quiet: [
    { name: 'two messages by one tool', steps: ['read_inbox', 'send_message', 'send_message'] },
    { name: 'nothing foreign was read', steps: ['post_webpage', 'send_direct_message'] },
  ],
};

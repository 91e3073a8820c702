import { marked, matched, type Rule } from '../rule.ts';
import { firstOf, sequence, tallyOf, toolName } from '../session/session-view.ts';
import { tagBits } from '../taxonomy/tag.ts';

/** Detects commands that name a host from a tool's text. */
export const executionForeignHost: Rule = {
  id: 'execution.foreign-host',
  title: "Command with a host from a tool's text",
  dimension: 'ASI05',
  llm: ['LLM01:2025 Prompt Injection', 'LLM02:2025 Sensitive Information Disclosure'],
  signal:
    'A command names a host that stood in the text of an earlier result and not in what the user said: it downloads from there or sends something there.',
  weight: 0.97,
  acts: ['shell_host'],
  habitual: false,
  falsePositives: 'Downloading what the documentation of a project names.',
  recommendation: {
    title: 'Allow only known hosts',
    text: 'Run commands in a sandbox that reaches only the hosts that the work needs, and check what went to this one.',
  },
  detect: (view) =>
    marked(view, 'shell_host', 'ran a command with a host from the text of an earlier result.'),
  fires: [
    {
      name: 'a script from a web page',
      steps: [
        'fetch_url',
        {
          tool: 'run_shell',
          origins: {
            command: { from: 'model' },
            'command.host': { from: 'tool', as: 'text', toolName: 'fetch_url' },
          },
        },
      ],
    },
  ],
  quiet: [
    {
      name: 'the user named the host',
      steps: ['fetch_url', { tool: 'run_shell', origins: { command: { from: 'user' } } }],
    },
    {
      name: 'a file that names a host is edited',
      steps: [
        'read_file',
        {
          tool: 'edit_file',
          origins: { 'new_string.host': { from: 'tool', as: 'text', toolName: 'read_file' } },
        },
      ],
    },
  ],
};

/** Detects files that got content with a host from outside the workspace. */
export const executionForeignFile: Rule = {
  id: 'execution.foreign-file',
  title: 'File with a host from a text from outside',
  dimension: 'ASI05',
  llm: ['LLM01:2025 Prompt Injection', 'LLM03:2025 Supply Chain'],
  signal:
    'A file was written whose content names a host that stood in a web page, a mail or an issue: a build file with such a line runs it on the next build. It counts more if such a text also named the file.',
  weight: 0.97,
  acts: ['file_copied', 'file_named'],
  habitual: false,
  falsePositives:
    'Writing links to sources into a document, or the address of a service into a configuration.',
  recommendation: {
    title: 'Review the file before it is used',
    text: 'Look for the host in the file, and for what the next build or run would do with it.',
  },
  detect(view) {
    const named = tallyOf(view, 'file_named');
    const isNamed = named.count > 0;
    const says = 'wrote a file that names a host from a text from outside the workspace.';
    return marked(view, 'file_copied', says, isNamed ? 1 : 0.35, isNamed ? [firstOf(named)] : []);
  },
  fires: [
    {
      name: 'a build file with a host from an issue',
      steps: [
        'get_issue',
        {
          tool: 'write_file',
          origins: { 'content.host': { from: 'tool', as: 'text', toolName: 'get_issue' } },
        },
      ],
    },
  ],
  quiet: [
    {
      name: 'a host from another file',
      steps: [
        'read_file',
        {
          tool: 'write_file',
          origins: { 'content.host': { from: 'tool', as: 'text', toolName: 'read_file' } },
        },
      ],
    },
  ],
};

/** Detects commands that were copied from outside text. */
export const executionForeignCode: Rule = {
  id: 'execution.foreign-code',
  title: 'Command copied from a text from outside',
  dimension: 'ASI05',
  llm: ['LLM01:2025 Prompt Injection', 'LLM05:2025 Improper Output Handling'],
  signal: 'A command of four words or more was copied from a web page, a mail or an issue, and run.',
  weight: 0.97,
  acts: ['shell_copied'],
  habitual: false,
  falsePositives: 'Following the installation steps of a manual that the user asked for.',
  recommendation: {
    title: 'Run downloaded commands only after a look',
    text: 'Hold commands that came from a text with a policy on argument origins, or run them in a sandbox.',
  },
  detect: (view) => marked(view, 'shell_copied', 'ran what stood in a text from outside the workspace.'),
  fires: [
    {
      name: 'a command from a web page',
      steps: [
        'fetch_url',
        { tool: 'run_shell', origins: { command: { from: 'tool', as: 'text', toolName: 'fetch_url' } } },
      ],
    },
  ],
  quiet: [
    {
      name: 'a command that the model wrote',
      steps: ['fetch_url', { tool: 'run_shell', origins: { command: { from: 'model' } } }],
    },
    {
      name: 'the clock is nobody’s text',
      steps: [
        'get_current_time',
        {
          tool: 'run_shell',
          origins: { command: { from: 'tool', as: 'text', toolName: 'get_current_time' } },
        },
      ],
    },
  ],
};

/** Detects code that runs after untrusted content. */
export const executionAfterUntrusted: Rule = {
  id: 'execution.after-untrusted',
  title: 'Code run after untrusted content',
  dimension: 'ASI05',
  llm: ['LLM01:2025 Prompt Injection', 'LLM05:2025 Improper Output Handling'],
  signal:
    'The agent runs code or a command, or controls a computer, after it read text of third parties other than code.',
  weight: 0.2,
  acts: ['exec'],
  circumstantial: true,
  cluster: 'irreversible-after-untrusted',
  precedented: true,
  falsePositives: 'Coding agents, which read issues and run tests; their baseline lowers this.',
  recommendation: {
    title: 'Run code in a sandbox',
    text: 'Run it in a sandbox without network and secrets, and require approval after untrusted content was read.',
  },
  detect(view) {
    const found = sequence(view, 'outside', 'exec');
    if (found === undefined) return undefined;
    const [read, act] = found;
    return matched(
      [read, act],
      1,
      `${toolName(view, act.tool)} ran code after ${toolName(view, read.tool)} read text from outside the workspace.`,
      tallyOf(view, 'exec').count + 1,
    );
  },
  fires: [
    { name: 'reads an issue, runs a command', steps: ['get_issue', 'execute_command'] },
    { name: 'reads a page, runs Python', steps: ['fetch_url', 'python_repl'] },
  ],
  quiet: [
    { name: 'runs, then reads', steps: ['execute_command', 'get_issue'] },
    { name: 'reads a page, calculates', steps: ['fetch_url', 'calculate'] },
  ],
};

/** Detects downloaded content that is stored and then run. */
export const executionFetchThenRun: Rule = {
  id: 'execution.fetch-then-run',
  title: 'Downloaded, stored and run',
  dimension: 'ASI05',
  llm: ['LLM03:2025 Supply Chain', 'LLM05:2025 Improper Output Handling'],
  signal:
    'The session downloads from the web, writes a file or installs a package, and runs something: it may run untrusted code.',
  weight: 0.2,
  acts: ['exec'],
  circumstantial: true,
  precedented: true,
  falsePositives: 'Setting up a project as its instructions say.',
  recommendation: {
    title: 'Check what was run',
    text: 'Inspect the stored file or package and its origin. Allow installation from your own mirror only.',
  },
  detect(view) {
    const stored = sequence(view, 'opened_web', 'stored');
    const run = sequence(view, 'stored', 'exec');
    if (stored === undefined || run === undefined) return undefined;
    const [fetched, kept] = stored;
    const [, ran] = run;
    return matched(
      [fetched, kept, ran],
      1,
      `${toolName(view, fetched.tool)} downloaded something, ${toolName(view, kept.tool)} stored a file, and ${toolName(view, ran.tool)} ran code.`,
    );
  },
  fires: [
    { name: 'fetches, writes, runs', steps: ['fetch_url', 'write_file', 'run_shell'] },
    { name: 'fetches, installs, runs', steps: ['download_page', 'install_package', 'execute_code'] },
  ],
  quiet: [
    { name: 'writes its own file, runs it', steps: ['write_file', 'run_shell'] },
    { name: 'fetches, stores, runs nothing', steps: ['fetch_url', 'write_file'] },
  ],
};

const exec = tagBits('exec');

/** Detects the first time that an agent runs code. */
export const executionFirstTime: Rule = {
  id: 'execution.first-time',
  title: 'First run of code',
  dimension: 'ASI05',
  llm: ['LLM06:2025 Excessive Agency', 'LLM05:2025 Improper Output Handling'],
  signal: 'The agent runs code or a command, which no past session did.',
  weight: 0.4,
  acts: ['exec'],
  cluster: 'new-action',
  habitual: false,
  falsePositives: 'A tool that was added to the agent on purpose.',
  recommendation: {
    title: 'Remove the tool or confirm it',
    text: 'An agent that needs no code should have no tool that runs code. If it needs it now, let the next sessions be learned.',
  },
  detect(view) {
    const expected = view.expected;
    if (expected === undefined || expected.all.some((past) => (past.tags & exec) !== 0)) return undefined;
    return marked(view, 'exec', 'is the first call of this agent that runs code.', expected.confidence);
  },
  fires: [
    {
      name: 'a mail agent opens a shell',
      steps: ['search_emails', 'run_shell'],
      history: [['search_emails'], ['search_emails'], ['read_email']],
    },
  ],
  quiet: [
    { name: 'a coding agent', steps: ['run_shell'], history: [['read_file', 'run_shell']] },
    { name: 'no past is known', steps: ['run_shell'] },
  ],
};

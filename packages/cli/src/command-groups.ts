/** Headings of `actlog --help`, in order, with their subcommands. A subcommand that is not listed is under "Commands". */
export const commandGroups: Readonly<Record<string, readonly string[]>> = {
  'Set up:': ['init', 'doctor', 'completion'],
  'Run a server:': [
    'serve',
    'keys',
    'tenants',
    'retention',
    'quota',
    'tags',
    'learn',
    'webhooks',
    'backup',
    'migrate',
  ],
  'Read what agents did:': ['overview', 'sessions', 'agents', 'events'],
  'Decide what they may do:': ['policies', 'guardian', 'channels', 'risk', 'audit'],
  'Guard agents without changing their code:': ['gateway', 'hook', 'spool'],
  'Look up and check:': ['rules', 'tool', 'conformance'],
};

/** Returns the heading of a subcommand. */
export function groupOf(name: string): string {
  const found = Object.entries(commandGroups).find(([, names]) => names.includes(name));
  return found?.[0] ?? 'Commands:';
}

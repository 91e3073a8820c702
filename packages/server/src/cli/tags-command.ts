import { type ToolTag, toolTags } from '@actlog/risk';
import { Command } from 'commander';
import { administer } from './administer.ts';
import { print, type TenantFlags, tenantCommand } from './tenant-flags.ts';

/** Arguments instead of tags: the tool has none, or is classified by name again. */
const none = 'none';
const byName = 'default';

function parseTags(text: string): ToolTag[] | null {
  if (text === byName) return null;
  return text === none ? [] : (text.split(',') as ToolTag[]);
}

/** Returns the command `tags`, which sets and lists the corrected tags of a tenant's tools. */
export function tagsCommand(): Command {
  const tags = new Command('tags').description('correct how the risk engine classifies tools');
  tenantCommand(
    tags,
    'set <tool> <tags>',
    `set the tags of a tool to some of ${toolTags.join(',')}, or to "${none}"; "${byName}" classifies it by name again. Applies to sessions that begin from now on`,
  ).action((tool: string, text: string, { database, tenant }: TenantFlags) =>
    administer(database, (admin) => admin.toolTags.set(tenant, { [tool]: parseTags(text) })),
  );
  tenantCommand(tags, 'list', 'list the tools whose tags the tenant has corrected').action(
    ({ database, tenant }: TenantFlags) =>
      administer(database, async (admin) => {
        for (const [tool, names] of Object.entries(await admin.toolTags.list(tenant))) {
          print(`${tool}\t${names.join(',') || none}`);
        }
      }),
  );
  return tags;
}

import { print } from '../output/print.ts';
import { printable } from '../output/printable.ts';
import { styled } from '../output/style.ts';
import type { Adapter } from './adapters.ts';
import type { PackageManager } from './package-manager.ts';
import type { Project, ProjectPackage } from './project.ts';

/** Prints what is left to do: packages to install, and the line to add for each framework. */
export async function printSteps({ packages }: Project, manager: PackageManager): Promise<void> {
  const users = packages.filter(({ adapters }) => adapters.length > 0);
  if (users.length === 0) return printWithoutFramework(manager);
  for (const user of users) await printPackage(user, manager);
}

async function printPackage(
  { path, adapters, installed }: ProjectPackage,
  manager: PackageManager,
): Promise<void> {
  const names = new Set([...adapters.map(packageName), '@actlog/recorder']);
  const missing = [...names].filter((name) => !installed.includes(name));
  await print('');
  if (path !== '') await print(styled('bold', printable(path)));
  if (missing.length > 0) {
    await print(`Install ${missing.length === 1 ? 'the package' : 'the packages'}:`);
    const folder = path === '' ? '' : `cd ${shellWord(path)} && `;
    await print(`  ${folder}${manager.add} ${missing.join(' ')}`);
  }
  for (const { title, package: name, line } of adapters) {
    await print(
      `Add this for ${title}; the README of ${packageName({ package: name })} has a whole program:`,
    );
    await print(`  import { actlog } from '${name}';`);
    for (const text of line.split('\n')) await print(`  ${text}`);
  }
}

async function printWithoutFramework(manager: PackageManager): Promise<void> {
  await print('');
  await print('No framework with an adapter is in package.json. Record the tools of your own code:');
  await print(`  ${manager.add} @actlog/recorder`);
  await print(`  import { sharedRecorder } from '@actlog/recorder';`);
  await print('  const tools = sharedRecorder().instrument({ … });');
}

/** Returns the name of the package of an entry point, such as `@actlog/recorder` for `@actlog/recorder/loop`. */
function packageName({ package: name }: Pick<Adapter, 'package'>): string {
  return name.split('/').slice(0, 2).join('/');
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

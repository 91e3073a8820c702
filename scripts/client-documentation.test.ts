import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { root } from './workspace.ts';

const folder = join(root, 'packages/client');
const entries = ['index', 'records', 'scripts'].map((name) => join(folder, 'src', `${name}.ts`));

/** Virtual files for the compiler. */
const virtual = new Map<string, string>();
const examplesPath = (index: number) => join(folder, 'src', `example-${index}.ts`);

const { config } = ts.readConfigFile(join(root, 'tsconfig.base.json'), (path) => readFileSync(path, 'utf8'));
const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);

function programOf(files: readonly string[], old?: ts.Program): ts.Program {
  const settings = { ...options, noEmit: true, composite: false, incremental: false, declaration: false };
  settings.emitDeclarationOnly = false;
  const host = ts.createCompilerHost(settings);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (path) => virtual.has(path) || fileExists(path);
  host.readFile = (path) => virtual.get(path) ?? readFile(path);
  host.getSourceFile = (path, ...rest) =>
    virtual.has(path)
      ? ts.createSourceFile(path, virtual.get(path) ?? '', ts.ScriptTarget.ES2024, true)
      : (old?.getSourceFile(path) ?? getSourceFile(path, ...rest));
  return ts.createProgram({ rootNames: files, options: settings, host, ...(old && { oldProgram: old }) });
}

const program = programOf(entries);
const checker = program.getTypeChecker();

/** Methods of every promise, which the platform documents. */
const ofPromises = ['then', 'catch', 'finally'];

/** Symbols that the entry points export, with aliases resolved. */
const exported = entries.flatMap((path) => {
  const module = checker.getSymbolAtLocation(program.getSourceFile(path) as ts.SourceFile) as ts.Symbol;
  return checker
    .getExportsOfModule(module)
    .map((symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol));
});

function isPublic(method: ts.MethodDeclaration): boolean {
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected | ts.ModifierFlags.Static;
  return ts.isIdentifier(method.name) && (ts.getCombinedModifierFlags(method) & hidden) === 0;
}

/** Public methods of exported classes, and exported functions, by name. Overloads count as one. */
const documented = new Map<string, ts.Symbol>();
for (const symbol of exported) {
  for (const declaration of symbol.declarations ?? []) {
    if (ts.isFunctionDeclaration(declaration)) documented.set(symbol.name, symbol);
    if (!ts.isClassDeclaration(declaration)) continue;
    for (const member of declaration.members) {
      if (!ts.isMethodDeclaration(member) || !isPublic(member)) continue;
      const method = checker.getSymbolAtLocation(member.name);
      if (method && !ofPromises.includes(method.name))
        documented.set(`${symbol.name}.${method.name}`, method);
    }
  }
}

/** Returns the code of a method's examples, with each imported name on the first line. */
function examplesOf(symbol: ts.Symbol): string[] {
  return symbol
    .getJsDocTags(checker)
    .filter(({ name }) => name === 'example')
    .map(({ text }) => /```ts\n(.*?)\n```/s.exec(ts.displayPartsToString(text))?.[1] ?? '');
}

const head = `import { Actlog } from './index.ts';
import { idOf, isKnownEvent, isToolCall } from './records.ts';
import { exportSessions, mapConcurrent } from './scripts.ts';
import { createEventId, parseRetryAfter } from './index.ts';
const client = new Actlog();
export { createEventId, exportSessions, idOf, isKnownEvent, isToolCall, mapConcurrent, parseRetryAfter };
`;

describe('the documentation of the client', () => {
  it('covers the resources', () => {
    expect([...documented.keys()]).toEqual(
      expect.arrayContaining([
        'Actlog.request',
        'Agents.get',
        'Events.create',
        'NotificationChannels.list',
        'PendingActions.watch',
        'Policies.check',
        'Sessions.exportToFile',
        'Webhooks.unwrap',
        'List.pages',
        'exportSessions',
        'mapConcurrent',
      ]),
    );
  });

  it('has an example of every public method and function', () => {
    const missing = [...documented]
      .filter(([, symbol]) => examplesOf(symbol).length === 0)
      .map(([name]) => name);
    expect(missing).toEqual([]);
  });

  it('has examples whose types are right', () => {
    const names: string[] = [];
    for (const [name, symbol] of documented) {
      for (const example of examplesOf(symbol)) {
        const code = example.replaceAll("'@actlog/client'", "'./index.ts'");
        virtual.set(examplesPath(names.length), `${head}${code}\n`);
        names.push(name);
      }
    }
    const files = names.map((_, index) => examplesPath(index));
    const withExamples = programOf([...entries, ...files], program);
    const problems = files.flatMap((path, index) => {
      const file = withExamples.getSourceFile(path);
      const found = [
        ...withExamples.getSyntacticDiagnostics(file),
        ...withExamples.getSemanticDiagnostics(file),
      ];
      return found.map(
        ({ messageText }) => `${names[index]}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
      );
    });
    expect(problems).toEqual([]);
  });
});

describe('the types of the client', () => {
  /** Returns the type of an expression as an editor shows it. */
  function shown(expression: string): string {
    const path = examplesPath(-1);
    virtual.set(path, `${head}export const shown = ${expression};\n`);
    const own = programOf([...entries, path], program);
    const module = own
      .getTypeChecker()
      .getSymbolAtLocation(own.getSourceFile(path) as ts.SourceFile) as ts.Symbol;
    const symbol = own
      .getTypeChecker()
      .getExportsOfModule(module)
      .find(({ name }) => name === 'shown') as ts.Symbol;
    return own.getTypeChecker().typeToString(own.getTypeChecker().getTypeOfSymbol(symbol));
  }

  it.each([
    ["client.sessions.get('s')", 'RequestPromise<SessionDetail>'],
    ['client.sessions.list()', 'List<Session>'],
    ['await client.sessions.list()', 'Page<Session>'],
    ["client.sessions.events('s')", 'List<StoredEvent>'],
    ["client.sessions.risk('s')", 'RequestPromise<Risk>'],
    ["client.sessions.export('s')", 'RequestPromise<SessionExport>'],
    ["client.agents.get('a')", 'RequestPromise<Agent>'],
    ["client.agents.get('a').withResponse()", 'Promise<WithResponse<Agent>>'],
    ["client.policies.get('p')", 'RequestPromise<Policy>'],
    ['client.policies.check(null!)', 'RequestPromise<CheckResult>'],
    ['client.events.create(null!)', 'RequestPromise<EventAck>'],
    ["client.guardian.pendingActions.decide('p', null!)", 'RequestPromise<PendingAction>'],
    ['client.guardian.pendingActions.watch()', 'AsyncGenerator<PendingAction, undefined, any>'],
    ['client.notificationChannels.create(null!)', 'RequestPromise<NotificationChannelCreated>'],
    ['client.notificationChannels.list()', 'List<NotificationChannel>'],
    ["client.sessions.events('s').filter(isToolCall)", 'ItemSequence<ToolCallEvent>'],
  ])('of %s is %s', (expression, type) => {
    expect(shown(expression)).toBe(type);
  });
});

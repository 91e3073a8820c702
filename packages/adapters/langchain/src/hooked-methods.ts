import { MethodHooks } from '@actlog/recorder/adapter';

/** Methods of the framework's classes that this package replaces. */
export const hookedMethods: MethodHooks = new MethodHooks('@actlog/langchain/hooked-methods');

export { ForeignServer } from './foreign-server.ts';
export { NestedServer } from './nested-server.ts';

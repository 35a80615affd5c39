// A server on the v2 SDK.
//   node server.mjs stdio
//   node server.mjs http PORT
import { createServer } from 'node:http';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { z } from 'zod';
const make = () => {
  const server = new McpServer({ name: 'peer', version: '1' });
  server.registerTool('echo', { inputSchema: z.object({ message: z.string() }) }, async ({ message }) => ({ content: [{ type: 'text', text: 'echo ' + message }] }));
  return server;
};
if (process.argv[2] === 'stdio') serveStdio(make);
else createServer(toNodeHandler(createMcpHandler(make))).listen(Number(process.argv[3]), '127.0.0.1');

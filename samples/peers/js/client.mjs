// A client that does a fixed conversation and prints what came back, one line each.
//   node client.mjs v1|v2 stdio TOOL CMD ARG…
//   node client.mjs v1|v2 http TOOL URL
const [sdk, kind, tool, ...rest] = process.argv.slice(2);
const v1 = sdk === 'v1';
const at = v1 ? '@modelcontextprotocol/sdk/client' : '@modelcontextprotocol/client';
const { Client } = await import(v1 ? at + '/index.js' : at);
const { StdioClientTransport } = await import(v1 ? at + '/stdio.js' : at + '/stdio');
const { StreamableHTTPClientTransport } = await import(v1 ? at + '/streamableHttp.js' : at);
const client = new Client({ name: 'peer', version: '1' }, v1 ? {} : { versionNegotiation: { mode: 'auto' } });
const transport = kind === 'stdio'
  ? new StdioClientTransport({ command: rest[0], args: rest.slice(1), stderr: 'ignore' })
  : new StreamableHTTPClientTransport(new URL(rest[0]));
const say = (what, value) => console.log(what, JSON.stringify(value));
const attempt = async (what, call) => {
  try { say(what, await call()); } catch (error) { say(what, { error: error.code ?? String(error) }); }
};
await client.connect(transport);
say('server', client.getServerVersion());
await attempt('tools', async () => (await client.listTools()).tools.map(t => t.name));
const args = { message: 'hällo \u2028 you' };
for (let i = 0; i < 3; i++) await attempt('call', () => client.callTool({ name: tool, arguments: args }));
await Promise.all([1, 2, 3, 4].map(n => attempt('at once', () => client.callTool({ name: tool, arguments: args }))));
await attempt('unknown', () => client.callTool({ name: 'nonesuch', arguments: {} }));
await client.close();
process.exit(0);

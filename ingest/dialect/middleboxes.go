package dialect

// middleBoxes are what stands between client and server: bridges, gateways, web servers.
func middleBoxes() []*Dialect {
	return []*Dialect{mcpRemote(), mcpRemoteDebug(), supergateway(), dockerGateway(), agentGateway(), envoyGateway(), nginxJSON()}
}

// atEnds is what a box shows that logs an exchange once it has ended, and under ids of its own.
const atEnds = Requests | Responses | Times | Large

package dialect

// libraries are the SDKs: what a server or client that uses one logs.
func libraries() []*Dialect {
	return []*Dialect{goSDK(), mcpGo(), mcpGoJSON(), pythonSDK(), fastMCP(), csharp(), rmcpInfo(), rmcp(), javaSDK()}
}
